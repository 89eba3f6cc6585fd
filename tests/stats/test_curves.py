"""One curve: trend, noise, slope at the end, saturation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tunebook.stats.curves import (
    AR1,
    detrend,
    end_slope,
    fit_ar1,
    late_noise,
    running_median,
    saturation_step,
)
from tunebook.stats.periodicity import ar1_noise


def test_a_trend_is_removed_and_spikes_do_not_bend_it() -> None:
    x = np.linspace(0.0, 1.0, 100)
    curve = 3.0 - 2.0 * x + x**2
    spiked = curve.copy()
    spiked[[20, 21, 60]] += 50.0
    assert detrend(curve) == pytest.approx(np.zeros(100), abs=1e-9)
    residual = detrend(spiked + 0.01 * np.sin(40 * x))
    assert np.abs(np.delete(residual, [20, 21, 60])).max() < 0.05
    assert detrend([1.0, 2.0], degree=2).tolist() == [0.0, 0.0]


def test_a_running_median_ignores_a_spike() -> None:
    assert running_median([1.0, 1.0, 9.0, 1.0, 2.0], 3).tolist() == [1.0, 1.0, 1.0, 2.0, 2.0]
    assert running_median([1.0, 5.0], 99).shape == (2,)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_ar1_noise_is_recovered(rho: float) -> None:
    fits = [fit_ar1(3.0 * series) for series in ar1_noise(rho, 100, 120, seed=1)]
    assert np.mean([fit.rho for fit in fits if fit]) == pytest.approx(rho, abs=0.05)
    assert np.mean([fit.sd for fit in fits if fit]) == pytest.approx(3.0, rel=0.08)


def test_ar1_of_what_is_short_or_constant() -> None:
    assert fit_ar1(np.ones(7)) is None
    assert fit_ar1([1.0] * 7 + [math.nan] * 9) is None
    assert fit_ar1(np.ones(20)) == AR1(0.0, 0.0)
    assert AR1(0.6, 2.0).innovation_sd == pytest.approx(1.6)


def test_late_noise_is_neither_trend_nor_early_noise() -> None:
    rng = np.random.default_rng(2)
    n = 2000
    falling = 5.0 * np.exp(-np.arange(n) / 150) - 0.002 * np.arange(n)
    sd = np.where(np.arange(n) < n // 2, 1.0, 0.1)
    assert late_noise(falling + sd * rng.standard_normal(n)) == pytest.approx(0.1, rel=0.1)
    assert late_noise(np.linspace(1.0, 0.0, 50)) == pytest.approx(0.0, abs=1e-12)
    assert late_noise([1.0] * 7) is None


def test_late_noise_is_the_step_to_step_one_where_noise_is_correlated() -> None:
    drift = ar1_noise(0.9, 1, 4000, seed=3)[0]
    assert late_noise(drift) == pytest.approx(math.sqrt(1.0 - 0.9), rel=0.1)


@pytest.mark.parametrize(("rho", "n"), [(0.0, 30), (0.6, 100), (0.8, 400)])
def test_a_slope_keeps_its_level_under_correlated_noise(rho: float, n: int) -> None:
    slopes = [end_slope(np.arange(n), series) for series in ar1_noise(rho, 400, n, seed=4)]
    assert np.mean([s is not None and s.falling <= 0.05 for s in slopes]) < 0.085
    assert np.mean([s is not None and s.rising <= 0.05 for s in slopes]) < 0.085


def test_a_curve_that_still_falls_is_found() -> None:
    steps = np.arange(0, 10_000, 100)
    noise = 0.02 * ar1_noise(0.3, 50, 100, seed=5)
    slopes = [end_slope(steps, 1.0 - 5e-5 * steps + row) for row in noise]
    assert np.mean([s is not None and s.falling < 0.01 < s.rising for s in slopes]) > 0.9
    mean = np.mean([s.per_step for s in slopes if s])
    assert mean == pytest.approx(-5e-5, rel=0.05)
    assert slopes[0] is not None and slopes[0].span == 2900.0


def test_a_slope_without_noise_or_points() -> None:
    exact = end_slope(range(10), np.arange(10.0))
    assert exact is not None
    assert (round(exact.per_step, 9), exact.rising < 1e-6 < exact.falling) == (1.0, True)
    flat = end_slope(range(10), np.ones(10))
    assert flat is not None
    assert (flat.per_step, flat.falling, flat.rising) == (0.0, 0.5, 0.5)
    assert end_slope(range(7), np.ones(7)) is None
    assert end_slope(np.zeros(10), np.arange(10)) is None
    with pytest.raises(ValueError, match="got 2 steps and 1 values"):
        end_slope([1, 2], [1.0])


def test_saturation_is_when_the_curve_stays_near_its_end() -> None:
    steps = np.arange(0, 2000, 10)
    curve = np.exp(-steps / 200.0)
    noisy = curve + 0.002 * np.random.default_rng(6).standard_normal(200)
    step = saturation_step(steps, noisy, tolerance=0.02)
    assert step == pytest.approx(200 * math.log(50), abs=60)
    dip = curve.copy()
    dip[5:9] = 0.0
    assert saturation_step(steps, dip, tolerance=0.02) == pytest.approx(step, abs=60)
    assert saturation_step(steps, np.ones(200), tolerance=0.0) == 0.0
    assert saturation_step([1, 2], [1.0, 2.0], tolerance=1.0) is None
    holes = np.where(steps % 30 == 0, np.nan, noisy)
    assert saturation_step(steps, holes, tolerance=0.02) == pytest.approx(step, abs=60)


def test_the_error_of_a_slope_is_that_of_the_whole_matrix_of_correlations() -> None:
    random = np.random.default_rng(4)
    steps, values = np.arange(60.0), np.cumsum(random.normal(size=60))
    found = end_slope(steps, values, share=1.0)
    assert found is not None
    centred = steps - steps.mean()
    squares = float(centred @ centred)
    residuals = values - values.mean() - found.per_step * centred
    noise = fit_ar1(residuals, fitted=2)
    assert noise is not None
    lags = np.abs(np.arange(60)[:, None] - np.arange(60))
    form = float(centred @ found.rho**lags @ centred)
    assert found.error == pytest.approx(np.sqrt(form) * noise.sd / squares, rel=1e-9)


def test_a_very_long_curve_needs_no_matrix() -> None:
    found = end_slope(np.arange(300_000), np.random.default_rng(0).normal(size=300_000))
    assert found is not None
    assert found.error > 0.0
