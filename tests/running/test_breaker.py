"""The breaker trips after quick failures in a row, and stays tripped."""

from __future__ import annotations

import pytest

from coordination import COMPLETE, CRASHED, FAILED, PREEMPTED
from tunebook.core.events import Finished, Tick
from tunebook.core.space import Setting
from tunebook.core.trials import Attempt, Cause, FromSequence, Outcome, OutcomeKind, Trial
from tunebook.running.breaker import QUICK_SECONDS, Breaker

INFEASIBLE = Outcome(OutcomeKind.INFEASIBLE, "error became nan", Cause.DIVERGED)
ATTEMPT = Attempt(Trial("depth", 1, Setting(()), {}, 0, FromSequence(0)), 1, "token", "folder")


def after(*outcomes: Outcome, seconds: float = 1.0, most: int = 5) -> Breaker:
    breaker = Breaker(most)
    for outcome in outcomes:
        breaker.note(Finished(ATTEMPT, outcome, seconds))
        breaker.note(Tick(1))
    return breaker


def test_five_quick_failures_in_a_row_trip_it() -> None:
    assert not after(*[FAILED] * 4).tripped
    assert after(*[FAILED] * 5).reason == (
        "Paused: 5 attempts in a row broke within 60 s, the last one: ValueError: no."
    )


def test_crashes_count_too_and_the_last_reason_is_told() -> None:
    reason = after(FAILED, FAILED, FAILED, FAILED, CRASHED).reason
    assert reason is not None
    assert reason.endswith("the last one: the process was killed by SIGKILL.")


@pytest.mark.parametrize("between", [COMPLETE, INFEASIBLE])
def test_an_attempt_that_does_not_break_ends_the_row(between: Outcome) -> None:
    assert not after(*[FAILED] * 4, between, *[FAILED] * 4).tripped


def test_leaving_is_no_sign_of_health() -> None:
    assert after(*[FAILED] * 4, PREEMPTED, FAILED).tripped


def test_slow_failures_do_not_trip_it() -> None:
    assert not after(*[FAILED] * 9, seconds=QUICK_SECONDS).tripped


def test_errors_of_a_probe_s_program_do_not_count_once_it_has_worked() -> None:
    def probing(*outcomes: Outcome, has_worked: bool = False) -> bool:
        breaker = Breaker(has_worked=has_worked)
        for outcome in outcomes:
            breaker.note(Finished(ATTEMPT, outcome, 1.0))
        return breaker.tripped

    assert probing(*[FAILED] * 5)
    assert probing(INFEASIBLE, *[FAILED] * 5)
    assert not probing(COMPLETE, *[FAILED] * 9)
    # In an earlier stage, at lower values.
    assert not probing(*[FAILED] * 9, has_worked=True)
    assert probing(*[CRASHED] * 5, has_worked=True)
    # A study of its own is paused wherever it breaks.
    assert after(COMPLETE, *[FAILED] * 5).tripped


def test_what_ends_well_afterwards_does_not_mend_it() -> None:
    breaker = after(*[FAILED] * 5, COMPLETE)
    assert breaker.tripped
    assert breaker.reason == after(*[FAILED] * 5).reason


def test_a_reason_of_several_lines_is_still_one_sentence() -> None:
    reason = after(Outcome(OutcomeKind.FAILED, "ValueError: a\n  b"), most=1).reason
    assert reason == "Paused: 1 attempts in a row broke within 60 s, the last one: ValueError: a b."
