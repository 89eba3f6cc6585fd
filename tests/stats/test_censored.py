"""Levels and standard deviations of values that are known between bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

from tunebook.stats.censored import Bounds


def test_exact_values_give_the_mean_and_the_sd() -> None:
    y = np.random.default_rng(1).normal(3.0, 0.2, 12)
    fit = Bounds(y, y, least=1e-9).fit(np.zeros((2, 12)))
    assert fit.level == pytest.approx([y.mean()] * 2)
    assert fit.sd == pytest.approx([y.std()] * 2)
    assert fit.likelihood[0] == pytest.approx(norm.logpdf(y, y.mean(), y.std()).sum())


@given(st.integers(0, 10_000))
def test_bounds_give_the_largest_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(2.0, 0.3, 15)
    low = np.floor(y * 5.0) / 5.0
    high = low + 0.2
    high[y > 2.4] = np.inf
    offsets = rng.normal(0.0, 0.05, (1, 15))
    bounds = Bounds(low, high, least=0.01)
    fit = bounds.fit(offsets)

    def cost(place: np.ndarray) -> float:
        sd = np.exp(place[1])
        mean = place[0] + offsets[0]
        mass = norm.cdf(high, mean, sd) - norm.cdf(low, mean, sd)
        return float(-np.log(np.maximum(mass, 1e-300)).sum() + 0.5 * (0.01 / sd) ** 2)

    found = minimize(cost, [2.0, np.log(0.3)], method="Nelder-Mead", options={"fatol": 1e-10})
    assert -fit.likelihood[0] <= found.fun + 1e-6
    assert cost(np.array([fit.level[0], np.log(fit.sd[0])])) == pytest.approx(
        -fit.likelihood[0], rel=1e-6
    )


@given(st.integers(0, 10_000), st.floats(-5.0, 5.0))
def test_a_common_shift_moves_the_level_alone(seed: int, shift: float) -> None:
    y = np.random.default_rng(seed).normal(0.0, 1.0, 9)
    low, high = np.floor(y), np.floor(y) + 1.0
    here = Bounds(low, high).fit(np.zeros((1, 9)))
    there = Bounds(low + shift, high + shift).fit(np.zeros((1, 9)))
    assert there.level[0] - here.level[0] == pytest.approx(shift, abs=1e-4)
    assert there.likelihood[0] == pytest.approx(here.likelihood[0], abs=1e-6)


def test_values_that_all_fit_have_a_small_sd() -> None:
    fit = Bounds(np.full(6, 1.9), np.full(6, 2.1)).fit(np.zeros((1, 6)))
    assert fit.level[0] == pytest.approx(2.0, abs=1e-6)
    assert 0.005 < fit.sd[0] < 0.05
    same = Bounds(np.full(6, 2.0), np.full(6, 2.0)).fit(np.zeros((1, 6)))
    assert 0.001 < same.sd[0] < 0.01


def test_the_sd_about_a_level_that_is_held() -> None:
    y = np.random.default_rng(3).normal(3.0, 0.2, 12)
    held = Bounds(y, y, least=1e-9).fit_sd(np.full((1, 12), 2.9), np.array([1.0]))
    assert held.sd[0] == pytest.approx(np.sqrt(np.mean((y - 2.9) ** 2)))


def test_known_values_need_no_search() -> None:
    y = np.random.default_rng(4).normal(3.0, 0.2, 12)
    offsets = np.random.default_rng(5).normal(0.0, 0.1, (3, 12))
    known, narrow = Bounds(y, y), Bounds(y - 1e-5, y + 1e-5)
    a, b = known.fit(offsets), narrow.fit(offsets)
    assert a.level == pytest.approx(b.level, rel=1e-5)
    assert a.sd == pytest.approx(b.sd, rel=1e-4)
    # A density times the width of the bounds is the chance to lie within them.
    assert a.likelihood + 12 * np.log(2e-5) == pytest.approx(b.likelihood, rel=1e-6)
