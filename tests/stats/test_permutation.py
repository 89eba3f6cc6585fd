"""Tests by permutation: exact nulls, levels and power."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tunebook.stats.permutation import label_dependence, rank_sum_p, top_clustering


@given(st.lists(st.integers(0, 4), min_size=2, max_size=8), st.data())
def test_a_rank_sum_is_counted_over_all_choices(values: list[int], data: st.DataObject) -> None:
    ranks = stats.rankdata(values)
    chosen = data.draw(st.integers(1, len(values)))
    sums = [sum(choice) for choice in itertools.combinations(ranks, chosen)]
    total = data.draw(st.sampled_from(sums))
    assert rank_sum_p(ranks, chosen, total) == pytest.approx(np.mean(np.array(sums) <= total))
    assert rank_sum_p(ranks, chosen, -1.0) == 0.0


@pytest.mark.parametrize("shift", [-900.0, -400.0, 0.0])
def test_many_ranks_have_a_tail_that_is_slightly_heavy(shift: float) -> None:
    total = 30 * 151 / 2 + shift
    u = int(total - 30 * 31 / 2)
    exact = stats.mannwhitneyu(*_samples_with_u(u, 30, 120), alternative="less", method="exact")
    assert 0.98 < rank_sum_p(np.arange(1, 151), 30, total) / exact.pvalue < 2.0


def _samples_with_u(u: int, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two samples without ties whose Mann-Whitney statistic is u."""
    above, rest = divmod(u, n)
    first = np.array([-float(i + 1) for i in range(m)])
    first[:above] = n + 1.0 + np.arange(above)
    if rest:
        first[above] = rest - 0.5
    return first, np.arange(n, dtype=float)


def test_clustering_keeps_its_level_and_is_exact() -> None:
    rng = np.random.default_rng(1)
    p = np.array([_p_low(rng.random(32), rng.random(32)) for _ in range(800)])
    assert 0.02 < np.mean(p <= 0.05) < 0.07
    assert np.mean(p <= 0.005) < 0.015


def test_clustering_at_an_edge_is_found() -> None:
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(100):
        x = rng.random((32, 2))
        clustering = top_clustering(x[:, 0], (x[:, 0] + 0.2) ** 2 + 0.1 * x[:, 1] ** 2)
        assert clustering is not None
        found += clustering.low < 0.001
        assert clustering.high > 0.5 and clustering.mean_rank < 0.5
    assert found > 90


def test_p_values_are_fine_enough_for_many_claims() -> None:
    x = np.arange(64) / 64
    clustering = top_clustering(x, -x)
    assert clustering is not None
    assert clustering.high == pytest.approx(1 / math.comb(64, 13))
    assert clustering.low == pytest.approx(1.0)
    assert (clustering.top, clustering.trials) == (13, 64)


def test_infeasible_trials_are_never_among_the_best() -> None:
    x = np.arange(20.0)
    losses = np.where(x < 17, np.inf, x)
    clustering = top_clustering(x, losses)
    assert clustering is not None
    assert (clustering.top, clustering.trials) == (3, 20)
    assert clustering.high == pytest.approx(1 / math.comb(20, 3))
    assert top_clustering(x, np.full(20, np.inf)) is None


def test_what_says_nothing_of_a_side_gives_none() -> None:
    assert top_clustering([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]) is None
    assert top_clustering(np.full(30, 0.5), np.arange(30)) is None
    assert top_clustering(np.full(30, np.nan), np.arange(30)) is None


def _p_low(x: np.ndarray, y: np.ndarray) -> float:
    clustering = top_clustering(x, y)
    assert clustering is not None
    return clustering.low


def test_dependence_keeps_its_level_over_all_coordinates() -> None:
    rng = np.random.default_rng(3)
    p = []
    for _ in range(300):
        found = label_dependence(rng.random((40, 6)), rng.random(40) < 0.25, draws=400)
        assert found is not None
        p.append(found.p)
    assert np.mean(np.array(p) <= 0.05) < 0.08
    assert 0.1 < np.mean(np.array(p) <= 0.2) < 0.27


@pytest.mark.parametrize("side", ["low", "high"])
def test_dependence_names_the_coordinate_and_the_side(side: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.random((40, 5))
    label = x[:, 3] > 0.75 if side == "high" else x[:, 3] < 0.25
    found = label_dependence(x, label, draws=300)
    assert found is not None
    assert (found.coordinate, found.side) == (3, side)
    assert found.p < 1e-6


def test_a_missing_coordinate_says_nothing() -> None:
    rng = np.random.default_rng(5)
    x = rng.random((60, 2))
    label = x[:, 1] > 0.7
    x[::2, 1] = np.nan
    found = label_dependence(x, label)
    assert found is not None
    assert found.coordinate == 1
    assert found.p < 0.01


def test_labels_that_agree_or_points_that_do_not_vary_give_none() -> None:
    x = np.random.default_rng(6).random((10, 2))
    assert label_dependence(x, np.ones(10)) is None
    assert label_dependence(x, np.zeros(10)) is None
    assert label_dependence(np.ones((10, 2)), np.arange(10) < 3) is None
    assert label_dependence(np.zeros((0, 2)), []) is None


def test_a_seed_gives_one_answer() -> None:
    rng = np.random.default_rng(7)
    x, label = rng.random(30), rng.random(30) < 0.5
    assert label_dependence(x, label, seed=1) == label_dependence(x, label, seed=1)
