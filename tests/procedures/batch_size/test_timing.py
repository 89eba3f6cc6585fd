"""How long steps take, whatever the rhythm of logging."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.curves import Curve
from tunebook.procedures.batch_size.timing import (
    finest_metric,
    logging_interval,
    seconds_per_step,
    waiting_share,
)


def logged(each: float, steps: int, bunch: int = 1, pause: float = 0.0, seed: int = 0) -> Curve:
    """A curve of a loop that logs every `bunch` steps what happened since, after a long first."""
    rng = np.random.default_rng(seed)
    times = each * np.exp(0.05 * rng.normal(size=steps))
    times[0] += 50 * each
    times[steps // 2] += pause
    seconds = np.cumsum(times)
    ends = np.minimum((np.arange(steps) // bunch + 1) * bunch, steps) - 1
    # The calls of a bunch come within microseconds of one another.
    return Curve.of(
        np.arange(1, steps + 1), np.ones(steps), seconds[ends] + 2e-6 * np.arange(steps)
    )


@given(st.floats(1e-3, 10.0), st.integers(1, 25), st.integers(0, 5))
def test_the_time_of_a_step_is_found_in_any_rhythm(each: float, bunch: int, seed: int) -> None:
    times = seconds_per_step({"loss": logged(each, 16 * bunch, bunch, seed=seed)})
    assert len(times) == 15 or bunch == 1
    assert np.median(times) == pytest.approx(each, rel=0.1)


def test_one_long_pause_is_no_reason_to_merge_steps() -> None:
    times = seconds_per_step({"loss": logged(0.01, 60, pause=30.0)})
    assert len(times) == 59
    assert np.median(times) == pytest.approx(0.01, rel=0.05)


def test_the_metric_with_the_most_times_counts_and_not_what_was_added_to_it() -> None:
    fine = logged(0.1, 40)
    sparse = Curve.of([20, 40], [1, 1], fine.seconds[[19, 39]])
    memory = Curve.of(range(1, 101), np.ones(100), np.linspace(0, 1, 100))
    times = seconds_per_step({"loss": fine, "valid": sparse, "memory/bytes": memory})
    assert len(times) == 39


def test_nothing_logged_has_no_times() -> None:
    assert len(seconds_per_step({})) == 0
    assert len(seconds_per_step({"loss": Curve.of([1], [1.0], [1.0])})) == 0
    assert logging_interval({}) is None


def test_the_metric_that_is_logged_most_often() -> None:
    curves = {"loss": Curve.of([1, 2], [1, 1]), "valid": Curve.of([2], [1])}
    assert finest_metric({**curves, "memory/bytes": logged(1.0, 9)}) == "loss"
    assert finest_metric({}) is None


def test_the_interval_of_logging() -> None:
    assert logging_interval({"loss": Curve.of([50, 100, 150], [1, 1, 1])}) == 50
    assert logging_interval({"loss": Curve.of([50], [1])}) == 50


def test_waiting_is_read_from_timings_and_from_the_loops_meter() -> None:
    x = np.arange(1, 11)
    timed = Curve.of(x, 5.0 + 0.3 * x, 1.0 * x)
    assert waiting_share({"time/data": timed}, "data") == pytest.approx(0.3)
    assert waiting_share({"time/data": timed}, "sync") is None
    meter = Curve.of([1, 2, 3], [0.9, 0.1, 0.2])
    assert waiting_share({"data_wait_share": meter}, "data") == pytest.approx(0.15)
