"""How many more trials a gain would need."""

from __future__ import annotations

import math

import numpy as np
import pytest
from opda.parametric import NoisyQuadraticDistribution

from tunebook.stats.tail_fit import _mass, tail_fit


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_distribution_agrees_with_opda(dimension: int) -> None:
    oracle = NoisyQuadraticDistribution(0.2, 1.2, dimension, 0.05, convex=True)
    y = np.array([[0.1, 0.25, 0.4, 0.8]])
    ours = _mass(y, np.array([0.2]), np.array([0.05]), np.array([float(dimension)]))
    assert ours[0] == pytest.approx(oracle.cdf(y[0]), rel=1e-3, abs=1e-5)


def sample(rng: np.random.Generator, n: int, noise: float) -> np.ndarray:
    """Losses of random points around an optimum in three dimensions."""
    squares = ((rng.random((n, 3)) - 0.5) ** 2).sum(axis=1)
    return np.asarray(squares + noise * rng.standard_normal(n))


def test_the_interval_holds_the_number_of_trials() -> None:
    rng = np.random.default_rng(1)
    many = np.sort(sample(rng, 200_000, 0.02))
    held, fitted = 0, 0
    for _ in range(25):
        y = sample(rng, 48, 0.02)
        fit = tail_fit(y, noise=0.02)
        target = many[200_000 // (4 * 48)]
        if fit is None or target >= y.min():
            continue
        fitted += 1
        more = fit.more_trials(y.min() - target)
        assert more.low <= more.trials <= more.high
        held += more.low <= math.log(2.0) * 4 * 48 <= more.high
    assert fitted >= 12
    assert held / fitted > 0.8


def test_the_floor_is_near_the_optimum() -> None:
    fit = tail_fit(sample(np.random.default_rng(2), 256, 0.01), noise=0.01)
    assert fit is not None
    assert fit.floor == pytest.approx(0.0, abs=0.03)
    assert fit.floor_low <= 0.0 <= fit.floor_high
    assert fit.trials == 256


def test_a_larger_gain_needs_more_trials() -> None:
    y = sample(np.random.default_rng(3), 64, 0.02)
    fit = tail_fit(y)
    assert fit is not None
    gains = [fit.more_trials(gain).trials for gain in (0.0, 0.01, 0.03, 0.1)]
    assert gains == sorted(gains)
    assert fit.more_trials(0.0).trials < 10 * 64
    assert fit.more_trials(100.0).trials == math.inf


def test_the_unit_of_the_loss_does_not_matter() -> None:
    y = sample(np.random.default_rng(4), 40, 0.02)
    one, other = tail_fit(y), tail_fit(1000.0 * y + 7.0)
    assert one is not None and other is not None
    assert other.floor == pytest.approx(1000.0 * one.floor + 7.0)
    assert other.more_trials(20.0).trials == pytest.approx(one.more_trials(0.02).trials)


def test_infeasible_trials_count_and_what_tells_nothing_does_not() -> None:
    y = sample(np.random.default_rng(5), 40, 0.02)
    plain = tail_fit(y)
    with_infeasible = tail_fit([*y, *([math.inf] * 40), math.nan])
    assert plain is not None and with_infeasible is not None
    assert with_infeasible.trials == 80
    half = tail_fit(np.sort(y)[:30].tolist() + [math.inf] * 50)
    assert half is not None


def test_what_is_not_a_quadratic_has_no_fit() -> None:
    rng = np.random.default_rng(6)
    two_clusters = np.concatenate([rng.normal(0.0, 1e-3, 12), rng.normal(1.0, 1e-3, 52)])
    assert tail_fit(two_clusters) is None
    assert tail_fit(rng.random(19)) is None
    assert tail_fit([1.0] * 40) is None
    assert tail_fit([0.1, 0.2] + [math.inf] * 40) is None
