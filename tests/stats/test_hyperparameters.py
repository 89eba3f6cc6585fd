"""The cost of hyperparameters, its gradient, and draws from their posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from tunebook.stats.hyperparameters import Hyperparameters, Problem, most_probable, plausible


def problem(n: int = 15, repeats: bool = True) -> Problem:
    random = np.random.default_rng(0)
    points = np.column_stack([random.random((n, 2)), random.integers(0, 3, n)])
    targets = np.sin(5 * points[:, 0]) + 0.3 * random.standard_normal(n)
    counts = random.integers(1, 4, n).astype(float) if repeats else np.ones(n)
    return Problem.of(points, targets, counts, np.array([False, False, True]))


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_finite_differences(seed):
    task = problem()
    vector = np.random.default_rng(seed).normal(-0.5, 0.7, 5)
    value, gradient = task.cost_and_gradient(vector)
    assert value == pytest.approx(task.cost(vector))
    assert gradient == pytest.approx(approx_fprime(vector, task.cost, 1e-6), rel=1e-3, abs=1e-4)


def test_the_most_probable_is_a_stationary_point_no_worse_than_the_prior_median():
    task = problem()
    vector = most_probable(task).vector()
    assert np.max(np.abs(task.cost_and_gradient(vector)[1])) < 0.05
    assert task.cost(vector) < task.cost(task.centre)


def test_draws_have_the_mean_of_the_posterior():
    # Compared with a plain importance sample from the prior, in the one direction that the data
    # say most about: the noise.
    task = problem(40, repeats=False)
    random = np.random.default_rng(1)
    prior = task.centre + task.spread * random.standard_normal((5_000, 5))
    away = np.sum(((prior - task.centre) / task.spread) ** 2, axis=1) / 2
    logs = away - np.array([task.cost(vector) for vector in prior])
    weights = np.exp(logs - logs.max())
    expected = np.sum(weights * prior[:, -1]) / np.sum(weights)
    drawn = plausible(task, most_probable(task), 200, random)
    assert np.mean([np.log(one.noise) for one in drawn]) == pytest.approx(expected, abs=0.2)


def test_a_vector_and_its_hyperparameters_are_inverse():
    found = Hyperparameters(np.array([0.5, 2.0]), 1.5, 0.01)
    again = Hyperparameters.of(found.vector())
    assert again.lengths == pytest.approx(found.lengths)
    assert (again.amplitude, again.noise) == pytest.approx((1.5, 0.01))
