"""Cuts and corners that separate a label."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tunebook.stats.regions import Cut, best_corner, best_cut


def test_a_search_for_a_cut_keeps_its_level() -> None:
    rng = np.random.default_rng(1)
    p = []
    for _ in range(100):
        region = best_cut(rng.random((40, 3)), rng.random(40) < 0.3, draws=100)
        assert region is not None
        p.append(region.p)
    assert np.mean(np.array(p) <= 0.05) < 0.1
    assert 0.1 < np.mean(np.array(p) <= 0.2) < 0.3


def test_a_cut_is_found_where_it_is() -> None:
    rng = np.random.default_rng(2)
    x = rng.random((48, 4))
    region = best_cut(x, (x[:, 2] < 0.3) & (rng.random(48) < 0.9))
    assert region is not None
    (cut,) = region.cuts
    assert (cut.coordinate, cut.side) == (2, "low")
    assert cut.threshold == pytest.approx(0.3, abs=0.07)
    assert region.inside > 0.8 and region.outside < 0.1
    assert region.trials == np.count_nonzero(cut.holds(x))
    assert region.p < 1e-4


def test_a_corner_is_found_where_it_is() -> None:
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(8):
        x = rng.random((96, 3))
        region = best_corner(x, (x[:, 0] > 0.6) & (x[:, 2] < 0.5), draws=200)
        assert region is not None
        where = [(cut.coordinate, cut.side) for cut in region.cuts]
        found += where == [(0, "high"), (2, "low")] and region.p < 0.05
    assert found >= 7


@pytest.mark.parametrize("cliff", [False, True])
def test_a_corner_that_adds_nothing_is_not_claimed(cliff: bool) -> None:
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(30):
        x = rng.random((40, 3))
        chance = np.where(x[:, 1] > 0.6, 0.9, 0.1) if cliff else 0.3
        region = best_corner(x, rng.random(40) < chance, draws=100)
        alarms += region is not None and region.p <= 0.05
    assert alarms <= 3


def test_points_without_the_coordinate_lie_on_neither_side() -> None:
    x = np.array([[0.1], [math.nan], [0.9]])
    assert Cut(0, "low", 0.5).holds(x).tolist() == [True, False, False]
    assert Cut(0, "high", 0.5).holds(x).tolist() == [False, False, True]


def test_where_there_is_nothing_to_separate_there_is_no_region() -> None:
    x = np.random.default_rng(5).random((12, 2))
    some = np.arange(12) < 4
    for search in (best_cut, best_corner):
        assert search(x, np.ones(12)) is None
        assert search(x, np.zeros(12)) is None
        assert search(np.ones((12, 2)), some) is None
    assert best_corner(x[:, :1], some) is None
    balanced = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 2, axis=0)
    assert best_cut(balanced, np.arange(8) % 2 == 0) is None
    assert best_corner(balanced, np.arange(8) % 2 == 0) is None
    with pytest.raises(ValueError, match="12 points and 3 labels"):
        best_cut(x, [True, False, True])


def test_a_seed_gives_one_answer() -> None:
    rng = np.random.default_rng(6)
    x, label = rng.random((30, 2)), rng.random(30) < 0.5
    assert best_cut(x, label, seed=3) == best_cut(x, label, seed=3)


def test_places_that_are_no_numbers_are_on_neither_side() -> None:
    x = np.array([0.1, 0.2, np.inf, -np.inf, np.nan, 0.8, 0.9, 1e300])
    region = best_cut(x, x > 0.5)
    assert region is not None
    assert region.cuts == (Cut(0, "high", 0.5),)
