"""Rhythm against AR(1) noise."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.stats.periodicity import ar1_noise, strongest_period


@pytest.mark.parametrize(("rho", "n"), [(0.0, 40), (0.6, 100), (0.9, 200)])
def test_the_level_is_kept_under_correlated_noise(rho: float, n: int) -> None:
    trend = 2.0 * np.exp(-np.arange(n) / (n / 3))
    found = [
        strongest_period(trend + row, draws=200, seed=7) for row in ar1_noise(rho, 250, n, seed=1)
    ]
    p = np.array([rhythm.p for rhythm in found if rhythm])
    assert len(p) == 250
    assert np.mean(p <= 0.05) < 0.085
    assert np.mean(p <= 0.01) < 0.03


# A slow wave is harder to tell from correlated noise, so it has to be stronger.
@pytest.mark.parametrize(("period", "amplitude"), [(5, 1.0), (8, 1.0), (20, 1.6)])
def test_a_rhythm_is_found(period: int, amplitude: float) -> None:
    x = np.arange(120)
    wave = amplitude * np.sin(2 * np.pi * x / period)
    found = [strongest_period(wave + row + 0.01 * x) for row in ar1_noise(0.4, 10, 120, seed=2)]
    assert [r.period for r in found if r] == pytest.approx([period] * 10, rel=0.1)
    assert np.median([r.p for r in found if r]) < 0.001
    assert max(r.p for r in found if r) < 0.05
    assert np.mean([r.amplitude for r in found if r]) == pytest.approx(amplitude, abs=0.15)


def test_what_is_short_or_smooth_has_no_rhythm() -> None:
    assert strongest_period(np.sin(np.arange(23))) is None
    assert strongest_period(np.ones(60)) is None
    assert strongest_period([np.nan] * 60) is None


def test_noise_is_stationary_from_its_first_value() -> None:
    noise = ar1_noise(0.8, 4000, 30, seed=3)
    assert noise.std(axis=0) == pytest.approx(np.ones(30), abs=0.06)
    assert np.mean(noise[:, 0] * noise[:, 1]) == pytest.approx(0.8, abs=0.06)
    assert np.array_equal(noise, ar1_noise(0.8, 4000, 30, seed=3))
