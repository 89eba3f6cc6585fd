"""Optima of planted surfaces, and the gain that remains."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.stats.gaussian_process import GaussianProcess, fit
from tunebook.stats.optima import candidates, optimum


def bowl(n: int, d: int = 2, noise: float = 0.02, seed: int = 0) -> GaussianProcess:
    random = np.random.default_rng(seed)
    points = random.random((n, d))
    return fit(points, np.sum((points - 0.6) ** 2, axis=1) + noise * random.standard_normal(n))


def test_a_planted_optimum_is_found_in_value_and_place():
    found = optimum(bowl(40))
    low, high = found.interval(0.98)
    assert low < 0.0 < high and high - low < 0.2
    assert np.median(found.places, axis=0) == pytest.approx([0.6, 0.6], abs=0.1)


def test_gains_are_never_negative_and_shrink_with_trials():
    few, many = optimum(bowl(10, d=3)), optimum(bowl(80, d=3))
    assert np.all(few.gains >= 0.0) and np.all(many.gains >= 0.0)
    assert many.remaining_gain < few.remaining_gain


def test_the_gain_is_that_from_the_found_point():
    process = bowl(30)
    found = optimum(process)
    assert np.mean(found.values + found.gains) == pytest.approx(
        process.mean(found.found[None])[0], abs=0.02
    )


def test_candidates_stay_in_the_cube_and_among_tried_categories():
    random = np.random.default_rng(0)
    points = np.column_stack([random.random((20, 2)), random.choice([2.0, 5.0], 20)])
    process = fit(points, random.random(20), categories=[False, False, True])
    found = candidates(process, random)
    assert np.all((found[:, :2] >= 0.0) & (found[:, :2] <= 1.0))
    assert set(np.unique(found[:, 2])) == {2.0, 5.0}
    assert len(np.unique(found, axis=0)) == len(found)


def test_equal_seeds_give_equal_optima_and_others_do_not():
    process = bowl(15)
    assert np.array_equal(optimum(process, seed=3).values, optimum(process, seed=3).values)
    assert not np.array_equal(optimum(process, seed=3).values, optimum(process, seed=4).values)


def test_no_optimum_lies_below_what_a_loss_can_be() -> None:
    random = np.random.default_rng(3)
    points = random.uniform(size=(12, 2))
    found = optimum(fit(points, 0.02 + points.sum(axis=1) + 0.05 * random.normal(size=12)))
    assert found.values.min() < 0.0
    held = found.bounded(0.0)
    assert held.values.min() == 0.0
    assert np.all(held.gains >= 0.0)
    assert held.remaining_gain <= found.remaining_gain
    np.testing.assert_allclose(found.bounded(-np.inf).gains, found.gains, atol=1e-12)
