"""A leak is found; plateaus with jumps are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.stats.growth import growth
from tunebook.stats.periodicity import ar1_noise


def plateau(n: int = 200, seed: int = 0, rho: float = 0.5, jumps: int = 2) -> np.ndarray:
    """Memory that fills at the start, jumps now and then, and stays."""
    rng = np.random.default_rng(seed)
    y = 1000.0 - 300.0 * np.exp(-np.arange(n) / (0.03 * n)) + 5.0 * ar1_noise(rho, 1, n, seed)[0]
    for place in rng.integers(0, n, jumps):
        y[place:] += rng.uniform(20.0, 300.0)
    return np.asarray(y)


@pytest.mark.parametrize("jumps", [0, 1, 2])
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_a_plateau_with_jumps_is_no_leak(jumps: int, rho: float) -> None:
    alarms = 0
    for seed in range(100):
        found = growth(range(200), plateau(seed=seed, rho=rho, jumps=jumps))
        assert found is not None
        alarms += found.p <= 0.01
    assert alarms <= 3


def test_a_planted_leak_is_found_with_its_slope() -> None:
    held = 0
    for seed in range(40):
        found = growth(np.arange(200) * 10, plateau(seed=seed) + np.arange(200))
        assert found is not None
        assert found.p <= 0.01
        held += 0.1 in found.per_step
    assert held >= 36


def test_a_leak_of_many_small_jumps_is_found() -> None:
    stairs = growth(range(200), 50.0 * (np.arange(200) // 10))
    assert stairs is not None and stairs.p <= 0.01
    assert stairs.per_step.estimate == pytest.approx(5.0, rel=0.2)


def test_jumps_are_told_apart_from_growth() -> None:
    y = np.full(200, 1000.0)
    y[120:] += 500.0
    found = growth(range(200), y)
    assert found is not None
    assert found.per_step.estimate == 0.0
    assert found.p == pytest.approx(0.5)


def test_growth_below_the_least_of_interest_is_none() -> None:
    y = plateau() + 0.1 * np.arange(200)
    found = growth(range(200), y, least=1.0)
    assert found is not None and found.p > 0.5


@given(st.floats(0.01, 100.0), st.integers(0, 500))
def test_units_carry_over(unit: float, seed: int) -> None:
    here = growth(range(100), plateau(100, seed))
    there = growth(np.arange(100) * unit, plateau(100, seed))
    assert here is not None and there is not None
    assert there.per_step.estimate * unit == pytest.approx(here.per_step.estimate, abs=1e-9)
    assert there.p == pytest.approx(here.p, abs=1e-9)


def test_what_is_short_or_out_of_order() -> None:
    assert growth(range(29), range(29)) is None
    with pytest.raises(ValueError, match="must increase"):
        growth(np.zeros(60), np.zeros(60))
    with pytest.raises(ValueError, match="got 1 steps and 0 values"):
        growth([1], [])
