"""Spikes, outlying gradients, blow-ups, and values that end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tunebook.stats.instability import (
    blank_tail,
    first_non_finite,
    gradient_norms,
    loss_spikes,
)
from tunebook.stats.periodicity import ar1_noise


def curve(n: int = 1000, seed: int = 0, rho: float = 0.0) -> np.ndarray:
    trend = 0.3 + 2.0 * np.exp(-np.arange(n) / 80)
    return np.asarray(trend * np.exp(0.05 * ar1_noise(rho, 1, n, seed)[0]))


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_a_healthy_loss_has_no_spikes(rho: float) -> None:
    alarms = sum(bool(loss_spikes(np.arange(1000), curve(seed=s, rho=rho))) for s in range(60))
    assert alarms <= 2


def test_spikes_are_found_with_their_height_and_recovery() -> None:
    loss = curve()
    loss[400:405] *= 6.0
    loss[900:] *= 4.0
    first, last = loss_spikes(np.arange(0, 10_000, 10), loss)
    assert first.step == 4000.0
    assert first.factor == pytest.approx(6.0, rel=0.2)
    assert first.recovered and first.end == 4050.0
    assert last.step == 9000.0
    assert last.factor == pytest.approx(4.0, rel=0.25)
    assert not last.recovered
    assert last.z > 8.0


def test_what_is_short_or_not_positive_has_no_spikes() -> None:
    assert loss_spikes(range(5), [1.0, 1.0, 9.0, 1.0, 1.0]) == ()
    assert loss_spikes(range(100), np.zeros(100)) == ()
    assert loss_spikes(range(100), np.ones(100)) == ()
    holes = curve()
    holes[::7] = np.nan
    assert loss_spikes(np.arange(1000), holes) == ()


def test_gradients_before_a_blow_up() -> None:
    rng = np.random.default_rng(1)
    norms = np.exp(0.2 * rng.standard_normal(600))
    norms[[100, 250]] = 30.0
    norms[500:] *= np.geomspace(20.0, 1e6, 100)
    found = gradient_norms(np.arange(600) + 1, norms)
    assert found is not None
    assert found.blow_up == pytest.approx(501, abs=6)
    assert found.outliers == (101.0, 251.0)
    assert found.largest == pytest.approx(30.0, rel=0.3)
    assert found.percentile_90 == pytest.approx(math.exp(0.2 * 1.2816), rel=0.06)
    assert found.median == pytest.approx(1.0, rel=0.05)


def test_healthy_gradients_have_neither_outliers_nor_a_blow_up() -> None:
    for seed in range(30):
        fading = np.geomspace(20.0, 0.1, 500) * np.exp(0.3 * ar1_noise(0.5, 1, 500, seed)[0])
        found = gradient_norms(np.arange(500), fading)
        assert found is not None
        assert found.blow_up is None
        assert found.outliers == ()


def test_a_norm_that_is_not_finite_is_a_blow_up() -> None:
    norms = np.ones(100)
    norms[60:] = np.nan
    found = gradient_norms(np.arange(100), norms)
    assert found is not None
    assert found.blow_up == 60.0
    assert gradient_norms(np.arange(100), np.full(100, np.inf)) is None
    assert gradient_norms([1, 2], [1.0, 1.0]) is None


def test_the_first_value_that_is_not_finite() -> None:
    assert first_non_finite([1, 2], [0.0, 1.0]) is None
    assert first_non_finite([], []) is None
    assert first_non_finite([5, 9], [math.nan, 1.0]) == 5.0
    with pytest.raises(ValueError, match="got 1 steps and 0 values"):
        first_non_finite([1], [])


def test_a_blank_tail_is_counted_from_the_last_finite_value() -> None:
    assert blank_tail([]) == 0
    assert blank_tail([1.0, 2.0]) == 0
    assert blank_tail([math.nan, math.inf]) == 2
    assert blank_tail([math.nan, 1.0, math.nan]) == 1
