"""The step at which a noisy curve reaches a level for good."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.stats.goal_steps import Reached, step_of_goal


def test_a_clear_crossing_lies_between_two_steps() -> None:
    assert step_of_goal([10, 20, 30], [1.0, 0.4, 0.1], level=0.5, window=1) == Reached(10.0, 20.0)
    assert step_of_goal([10, 20], [0.1, 0.1], level=0.5, window=1) == Reached(0.0, 10.0)


def test_errors_that_end_at_zero() -> None:
    errors = [0.5] * 30 + [0.0] * 70
    assert step_of_goal(range(100), errors) == Reached(29.0, 30.0)


def test_what_was_never_reached_is_censored() -> None:
    found = step_of_goal(range(1, 101), np.full(100, 0.2))
    assert found == Reached(100.0, math.inf)
    assert found is not None and not found.reached
    touched = [0.2] * 50 + [0.0] * 10 + [0.2] * 40
    assert step_of_goal(range(1, 101), touched) == Reached(100.0, math.inf)
    assert step_of_goal([1, 2], [math.nan, math.nan], level=9.0) == Reached(2.0, math.inf)


def test_a_lucky_batch_is_no_goal_and_a_stray_one_no_end() -> None:
    errors = np.array([0.5] * 40 + [0.0] * 160)
    errors[10] = 0.0
    errors[120] = 0.1
    assert step_of_goal(range(200), errors) == Reached(39.0, 40.0)
    assert step_of_goal(range(200), errors, window=1) == Reached(39.0, 40.0)


def test_noise_is_smoothed_and_the_crossing_is_held() -> None:
    held = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        loss = np.linspace(2.0, 0.0, 400) + 0.1 * rng.standard_normal(400)
        found = step_of_goal(range(400), loss, level=1.0, window=21)
        assert found is not None and found.reached
        held += found.after - 20 <= 199.5 <= found.until + 20
    assert held >= 95


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40),
    st.floats(0.0, 1.0),
    st.integers(1, 8),
)
def test_the_bounds_are_in_order(values: list[float], level: float, window: int) -> None:
    found = step_of_goal(range(1, len(values) + 1), values, level, window)
    assert found is not None
    assert found.after < found.until
    assert found.reached == (np.mean(values[-min(window, len(values)) :]) <= level) or (
        abs(np.mean(values[-window:]) - level) < 1e-9
    )


def test_an_error_that_was_an_accuracy_reaches_its_level() -> None:
    """1 - 0.999 is above 0.001 by a rounding."""
    found = step_of_goal([1, 2, 3], [0.5, 0.2, 1 - 0.999], 1e-3, window=1)
    assert found == Reached(2.0, 3.0)
    assert step_of_goal([1, 2], [1 - 0.999] * 2, 1e-3, window=2) == Reached(0.0, 1.0)


@given(
    st.sampled_from([0.0, 0.001, 0.1, 1 / 3]),
    st.lists(st.integers(-3, 3), min_size=1, max_size=8),
    st.integers(1, 8),
)
def test_values_a_rounding_from_the_level_break_nothing(
    level: float, roundings: list[int], window: int
) -> None:
    values = [level + rounding * float(np.spacing(level)) for rounding in roundings]
    found = step_of_goal(range(1, len(values) + 1), values, level, window)
    assert found is not None and found.after < found.until
    assert found.reached or level == 0.0


@given(st.lists(st.floats(), max_size=20), st.floats(0.0, 1.0), st.integers(1, 8))
def test_nothing_that_is_logged_breaks_it(values: list[float], level: float, window: int) -> None:
    found = step_of_goal(range(1, len(values) + 1), values, level, window)
    assert (found is None) == (not values)
    assert found is None or found.after < found.until


def test_what_makes_no_sense_is_refused() -> None:
    assert step_of_goal([], []) is None
    with pytest.raises(ValueError, match="got 1 steps and 0 values"):
        step_of_goal([1], [])
    with pytest.raises(ValueError, match="at least one value, got 0"):
        step_of_goal([1], [1.0], window=0)
