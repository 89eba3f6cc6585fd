"""Schedules: what every one of them keeps to, and what a longer run changes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.errors import StudyError
from tunebook.training.schedules import (
    SHAPES,
    Schedule,
    Shape,
    rate,
    replan,
    tiny_share_of_extra,
    tiny_steps,
)

schedules = st.builds(
    Schedule,
    base=st.floats(1e-6, 10.0),
    steps=st.integers(1, 300),
    shape=st.sampled_from(SHAPES),
    warmup=st.integers(0, 50),
    decay=st.none() | st.integers(1, 400),
    floor=st.floats(0.0, 1.0),
    power=st.floats(0.2, 4.0),
)


def rates(schedule: Schedule) -> list[float]:
    return [rate(schedule, step) for step in range(schedule.total)]


@given(schedules)
def test_rates_lie_above_zero_and_never_above_the_base(schedule: Schedule) -> None:
    found = rates(schedule)
    assert all(0 < value <= schedule.base for value in found)
    assert max(found) == schedule.base


@given(schedules)
def test_rates_rise_in_the_warmup_and_never_afterwards(schedule: Schedule) -> None:
    found = rates(schedule)
    warmup, body = found[: schedule.warmup], found[schedule.warmup :]
    assert warmup == sorted(set(warmup))
    assert body == sorted(body, reverse=True)


@given(schedules)
def test_the_body_begins_where_the_warmup_ends(schedule: Schedule) -> None:
    assert rate(schedule, schedule.warmup) == schedule.base
    if schedule.warmup:
        assert rate(schedule, schedule.warmup - 1) == schedule.base
        assert rate(schedule, 0) == pytest.approx(schedule.base / schedule.warmup)


@given(schedules)
def test_warmup_shifts_the_body_and_leaves_it_alone(schedule: Schedule) -> None:
    # An inverse square root takes the warmup as its time scale unless it has another.
    schedule = replace(schedule, decay=schedule.decay or 7)
    assert rates(schedule)[schedule.warmup :] == rates(replace(schedule, warmup=0))


@given(schedules)
def test_no_step_jumps(schedule: Schedule) -> None:
    """The steepest of the shapes, a polynomial of power 2, falls by 2 / decay at a step."""
    schedule = replace(schedule, base=1.0, power=2.0)
    steepest = max(1 / (schedule.warmup or math.inf), 2 / (schedule.decay_steps or math.inf))
    for before, after in itertools.pairwise(rates(schedule)):
        assert abs(after - before) <= steepest + 1e-12


def test_after_the_last_step_the_rate_stays_at_its_floor() -> None:
    for shape in ("linear", "polynomial", "cosine", "wsd"):
        schedule = Schedule(0.5, 20, shape, warmup=3, floor=0.1)
        assert rate(schedule, schedule.total) == pytest.approx(0.05)
        assert rate(schedule, schedule.total + 15) == pytest.approx(0.05)


def test_warmup_is_prepended() -> None:
    assert Schedule(0.1, steps=10_000, warmup=1_000).total == 11_000


def test_golden_values() -> None:
    def some(shape: Shape, **more: float) -> list[float]:
        schedule = Schedule(1.0, 10, shape, **more)  # type: ignore[arg-type]
        return [round(rate(schedule, step), 4) for step in (0, 4, 5, 8, 9)]

    assert some("constant") == [1.0, 1.0, 1.0, 1.0, 1.0]
    assert some("linear") == [1.0, 0.6, 0.5, 0.2, 0.1]
    assert some("linear", decay=5) == [1.0, 1.0, 1.0, 0.4, 0.2]
    assert some("linear", floor=0.5) == [1.0, 0.8, 0.75, 0.6, 0.55]
    assert some("polynomial", power=2) == [1.0, 0.36, 0.25, 0.04, 0.01]
    assert some("cosine") == [1.0, 0.6545, 0.5, 0.0955, 0.0245]
    assert some("cosine", decay=5) == [1.0, 1.0, 1.0, 0.3455, 0.0955]
    assert some("wsd") == [1.0, 1.0, 1.0, 1.0, 1.0]
    assert some("wsd", decay=4) == [1.0, 1.0, 1.0, 0.5, 0.25]
    assert some("inverse_sqrt", decay=4) == [1.0, 0.7071, 0.6667, 0.5774, 0.5547]


@given(st.integers(1, 300), st.integers(0, 299))
def test_cosine_is_the_well_known_one(steps: int, step: int) -> None:
    step %= steps
    expected = (1 + math.cos(math.pi * step / steps)) / 2
    assert rate(Schedule(1.0, steps, "cosine"), step) == pytest.approx(expected, abs=1e-12)


def test_a_cosine_over_very_many_steps_ends_above_zero() -> None:
    steps = 10**10
    assert rate(Schedule(1.0, steps, "cosine"), steps - 1) > 0


def test_an_inverse_square_root_after_warmup_is_the_well_known_one() -> None:
    schedule = Schedule(1.0, 1000, "inverse_sqrt", warmup=50)
    for step in (50, 51, 99, 1049):
        assert rate(schedule, step) == pytest.approx(math.sqrt(50 / step))


def test_wsd_decays_over_the_last_tenth() -> None:
    found = rates(Schedule(1.0, 1000, "wsd"))
    assert found[:901] == [1.0] * 901
    assert found[901] < 1.0


# A longer run.


@given(schedules)
def test_a_plan_for_the_same_steps_is_the_same_plan(schedule: Schedule) -> None:
    assert rates(replan(schedule, schedule.steps)) == rates(schedule)


@given(schedules, st.integers(1, 300), st.integers(1, 300))
def test_planning_twice_is_planning_once(schedule: Schedule, first: int, second: int) -> None:
    assert replan(replan(schedule, first), second) == replan(schedule, second)


@given(schedules, st.integers(1, 300))
def test_a_new_plan_keeps_base_and_warmup(schedule: Schedule, steps: int) -> None:
    planned = replan(schedule, steps)
    assert planned.total == schedule.warmup + steps
    assert rates(planned)[: schedule.warmup + 1] == rates(schedule)[: schedule.warmup + 1]


@pytest.mark.parametrize("shape", ["linear", "polynomial", "wsd"])
@pytest.mark.parametrize("decay", [None, 30])
def test_a_longer_run_keeps_the_decay_and_lengthens_the_constant_part(
    shape: Shape, decay: int | None
) -> None:
    schedule = Schedule(0.1, 100, shape, warmup=5, decay=decay, power=2.0)
    longer = replan(schedule, 1000)
    assert longer.decay_steps == schedule.decay_steps
    assert rates(longer)[-100:] == rates(schedule)[-100:]
    assert rates(longer)[5:-100] == [0.1] * 900


def test_a_longer_run_stretches_a_cosine() -> None:
    schedule = Schedule(0.1, 100, "cosine", warmup=5)
    longer = replan(schedule, 1000)
    for step in range(100):
        assert rate(longer, 5 + 10 * step) == pytest.approx(rate(schedule, 5 + step))


def test_a_longer_run_continues_an_inverse_square_root() -> None:
    schedule = Schedule(0.1, 100, "inverse_sqrt")
    assert rates(replan(schedule, 1000))[:100] == rates(schedule)


def test_a_shorter_run_decays_all_the_way_and_remembers_the_length() -> None:
    shorter = replan(Schedule(1.0, 100, "linear", decay=50), 10)
    assert rates(shorter) == [pytest.approx(1 - step / 10) for step in range(10)]


# Tiny rates.


@given(schedules, st.floats(0.001, 0.5))
def test_tiny_steps_are_those_below_the_share(schedule: Schedule, tiny: float) -> None:
    body = rates(replace(schedule, base=1.0, warmup=0, decay=schedule.decay or 9))
    found = tiny_steps(replace(schedule, decay=schedule.decay or 9), tiny)
    assert found == sum(value < tiny for value in body)


@given(schedules, st.sampled_from(["linear", "polynomial", "wsd"]), st.integers(301, 3000))
def test_a_kept_decay_spends_no_extra_step_at_tiny_rates(
    schedule: Schedule, shape: Shape, steps: int
) -> None:
    schedule = replace(schedule, shape=shape, decay=min(schedule.decay or 9, schedule.steps))
    assert tiny_share_of_extra(schedule, replan(schedule, steps)) == 0.0


def test_a_stretched_decay_spends_extra_steps_at_tiny_rates() -> None:
    bent = Schedule(0.1, 1000, "polynomial", power=4.0)
    stretched = replace(bent, steps=10_000)
    assert tiny_share_of_extra(bent, stretched) == pytest.approx(0.01 ** (1 / 4), abs=1e-3)
    assert tiny_share_of_extra(bent, replan(bent, 10_000)) == 0.0
    cosine = Schedule(0.1, 1000, "cosine")
    assert tiny_share_of_extra(cosine, replan(cosine, 10_000)) == pytest.approx(0.064, abs=1e-3)
    kept_up = replace(cosine, floor=0.05)
    assert tiny_share_of_extra(kept_up, replan(kept_up, 10_000)) == 0.0


def test_extra_steps_need_a_longer_plan() -> None:
    plan = Schedule(0.1, 100, "linear")
    with pytest.raises(StudyError, match="must be the longer one, got 100 and 100 steps"):
        tiny_share_of_extra(plan, plan)


# What is refused.


def test_a_misspelt_shape_is_refused() -> None:
    with pytest.raises(StudyError, match=r"no schedule is named 'cosin'; did you mean 'cosine'\?"):
        Schedule(0.1, 10, "cosin")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"base": 0.0}, "a schedule's base must be above 0 and finite, got 0.0"),
        ({"base": math.inf}, "a schedule's base must be above 0 and finite, got inf"),
        ({"steps": 0}, "a schedule's steps must be at least 1, got 0"),
        ({"warmup": -1}, "a schedule's warmup must be at least 0, got -1"),
        ({"decay": 0}, "a schedule's decay must be at least 1, got 0"),
        ({"floor": 1.5}, "a schedule's floor must be from 0 to 1, got 1.5"),
        ({"power": 0.0}, "a schedule's power must be above 0 and finite, got 0.0"),
    ],
)
def test_impossible_schedules_are_refused(changes: dict[str, float], text: str) -> None:
    with pytest.raises(StudyError, match=text):
        replace(Schedule(0.1, 10), **changes)  # type: ignore[arg-type]
