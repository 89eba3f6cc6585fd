"""Falling curves, valleys, and whether a rise is more than noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from tunebook.stats.monotone import isotonic, rise_test, screen, valley
from tunebook.stats.periodicity import ar1_noise

values = st.lists(st.floats(-100.0, 100.0), min_size=1, max_size=20)


@given(values, st.booleans())
def test_an_isotonic_fit_agrees_with_scipy(y: list[float], increasing: bool) -> None:
    theirs = isotonic_regression(y, increasing=increasing).x
    assert isotonic(y, increasing) == pytest.approx(theirs, abs=1e-9)


def test_rows_are_fitted_one_by_one() -> None:
    y = np.random.default_rng(0).random((5, 30))
    assert np.array_equal(isotonic(y), np.array([isotonic(row) for row in y]))


@given(values)
def test_a_valley_is_the_best_of_all_turns(y: list[float]) -> None:
    fit, turn = valley(y)
    error = np.sum((np.array(y) - fit) ** 2)
    assert np.all(np.diff(fit[: turn + 1]) <= 1e-9)
    assert np.all(np.diff(fit[turn:]) >= -1e-9)
    for split in range(len(y) + 1):
        parts = [(y[:split], False), (y[split:], True)]
        fits = [isotonic_regression(part, increasing=up).x for part, up in parts if part]
        assert error <= np.sum((np.array(y) - np.concatenate(fits)) ** 2) + 1e-6


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("n", [10, 25, 60, 300])
@pytest.mark.parametrize("decay", [0.0, 15.0])
def test_the_level_is_kept_on_noisy_plateaus(n: int, rho: float, decay: float) -> None:
    trend = decay * np.exp(-8.0 * np.arange(1, n + 1) / n)
    rises = screen(list(trend + ar1_noise(rho, 400, n, seed=1)))
    p = np.array([rise.p for rise in rises if rise])
    assert len(p) == 400
    assert np.mean(p <= 0.05) < 0.075
    assert np.mean(p <= 0.01) < 0.025


@pytest.mark.parametrize(
    ("n", "height", "rho", "p"),
    [(15, 16.0, 0.0, 0.05), (60, 8.0, 0.0, 0.01), (300, 4.0, 0.5, 0.01)],
)
def test_a_rise_is_found(n: int, height: float, rho: float, p: float) -> None:
    x = np.arange(1, n + 1) / n
    trend = 20.0 * np.exp(-12.0 * x) + height * np.maximum(x - 0.5, 0.0) / 0.5
    rises = [rise for rise in screen(list(trend + ar1_noise(rho, 100, n, seed=2))) if rise]
    assert np.mean([rise.p <= p for rise in rises]) > 0.9
    assert np.median([rise.rise for rise in rises]) == pytest.approx(height, rel=0.35)
    assert 0.3 * n < np.median([rise.minimum for rise in rises]) < 0.6 * n


def test_a_clear_rise_has_a_p_value_fine_enough_for_many_curves() -> None:
    x = np.arange(200) / 200
    rise = rise_test(5.0 * np.abs(x - 0.5) + 0.1 * ar1_noise(0.0, 1, 200, seed=3)[0], draws=1000)
    assert rise is not None
    assert rise.p < 1e-4
    assert rise.minimum == pytest.approx(100, abs=15)
    assert rise.rise == pytest.approx(2.4, abs=0.2)
    assert rise.noise == pytest.approx(0.1, rel=0.2)
    assert rise.sds == pytest.approx(24.0, rel=0.25)


def test_noise_known_to_be_less_correlated_gives_more_power() -> None:
    x = np.arange(40) / 40
    y = 3.0 * np.maximum(x - 0.5, 0.0) / 0.5 + ar1_noise(0.0, 1, 40, seed=4)[0]
    strict, informed = rise_test(y, draws=500), rise_test(y, rho_limit=0.2, draws=500)
    assert strict is not None and informed is not None
    assert informed.p < 0.2 * strict.p


def test_a_falling_curve_does_not_rise() -> None:
    rise = rise_test(np.exp(-np.arange(50.0)), draws=100)
    assert rise is not None
    assert rise.p == 1.0
    flat = rise_test(np.ones(50), draws=100)
    assert flat is not None
    assert (flat.p, flat.rise, flat.sds) == (1.0, 0.0, 0.0)


def test_values_that_are_not_finite_are_left_out_and_short_curves_give_none() -> None:
    y = np.r_[np.linspace(5.0, 0.0, 15), np.linspace(0.0, 5.0, 15)]
    holes = np.insert(y, [3, 20], [math.nan, math.inf])
    assert screen([y[:9], [], [math.nan] * 30]) == [None, None, None]
    whole, pierced = rise_test(y, draws=200), rise_test(holes, draws=200)
    assert whole is not None and pierced is not None
    assert whole.p == pierced.p
    assert holes[pierced.minimum] == y[whole.minimum]


def test_curves_of_different_lengths_are_screened_together() -> None:
    curves = [ar1_noise(0.3, 1, n, seed=n)[0] for n in (12, 50, 12, 700)]
    assert screen(curves) == [screen([curve])[0] for curve in curves]
