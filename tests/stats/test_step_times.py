"""Warm-up is dropped, and the usual time has an interval that holds it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.stats.periodicity import ar1_noise
from tunebook.stats.step_times import step_times, warm_up


def times(n: int = 60, slow: int = 6, rho: float = 0.0, seed: int = 0) -> np.ndarray:
    usual = 0.2 * np.exp(0.05 * ar1_noise(rho, 1, n, seed)[0])
    usual[:slow] *= np.geomspace(10.0, 2.0, slow)
    return np.asarray(usual)


@pytest.mark.parametrize("slow", [0, 1, 2, 6, 20])
def test_a_planted_warm_up_is_dropped_and_little_else(slow: int) -> None:
    dropped = [warm_up(times(slow=slow, seed=seed)) for seed in range(40)]
    assert min(dropped) >= max(slow, 1)
    assert np.median(dropped) <= slow + 1


def test_at_least_so_many_are_dropped_and_at_most_half() -> None:
    assert warm_up(times(slow=0), at_least=4) >= 4
    assert warm_up(np.geomspace(10.0, 1.0, 40)) <= 20
    assert warm_up([1.0, 1.0], at_least=3) == 2


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_the_interval_holds_the_usual_time(rho: float) -> None:
    found = [step_times(times(rho=rho, seed=seed)) for seed in range(200)]
    held = sum(one is not None and 0.2 in one.median for one in found)
    assert held >= 176


def test_the_spread_is_that_of_usual_steps() -> None:
    slow_now_and_then = times(n=400)
    slow_now_and_then[50::40] *= 20.0
    found = step_times(slow_now_and_then)
    assert found is not None
    assert found.spread == pytest.approx(0.2 * 0.05, rel=0.25)
    assert found.steps == 400 - warm_up(slow_now_and_then)
    assert found.log_error == pytest.approx(0.05 * math.sqrt(math.pi / 2 / 394), rel=0.4)


@given(st.floats(1e-6, 1e4), st.integers(0, 1000))
def test_the_unit_of_time_carries_over(unit: float, seed: int) -> None:
    here, there = step_times(times(seed=seed)), step_times(unit * times(seed=seed))
    assert here is not None and there is not None
    assert there.steps == here.steps
    assert there.median.low == pytest.approx(unit * here.median.low)
    assert there.median.low <= there.median.estimate <= there.median.high


def test_few_steps_give_no_time() -> None:
    assert step_times([]) is None
    assert step_times([1.0] * 6) is None
    same = step_times([1.0] * 7)
    assert same is not None and same.median.low == same.median.high == 1.0 and same.log_error == 0.0
    assert step_times([math.nan] * 9) is None


def test_no_step_takes_no_time() -> None:
    with pytest.raises(ValueError, match="more than no time, got -1"):
        step_times([1.0, -1.0])
