"""Trials and attempts, and which attempts are followed by another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.space import Setting
from tunebook.core.trials import (
    Adaptive,
    Attempt,
    Cause,
    Code,
    Ended,
    FromSequence,
    Imported,
    Listed,
    Origin,
    Outcome,
    OutcomeKind,
    Replicate,
    RetryPolicy,
    Trial,
)

OLD, NEW = Code("a" * 40), Code("b" * 40)
POLICY = RetryPolicy()


def ended(kind: OutcomeKind | None, step: int = 0, cause: Cause = Cause.NONE) -> Ended:
    return Ended(Outcome(kind, "because", cause) if kind else None, step, OLD)


CRASH = ended(OutcomeKind.CRASHED)
FAILURE = ended(OutcomeKind.FAILED)
NO_MEMORY = ended(OutcomeKind.INFEASIBLE, cause=Cause.OUT_OF_MEMORY)


def preempted(*steps: int) -> list[Ended]:
    return [ended(OutcomeKind.PREEMPTED, step) for step in steps]


@pytest.mark.parametrize(
    ("attempts", "again"),
    [
        ([], True),
        ([ended(None)], False),
        ([CRASH, ended(None)], False),
        ([ended(OutcomeKind.COMPLETE)], False),
        ([ended(OutcomeKind.STOPPED)], False),
        ([ended(OutcomeKind.CANCELLED)], False),
        ([ended(OutcomeKind.INFEASIBLE, cause=Cause.DIVERGED)], False),
        ([ended(OutcomeKind.INFEASIBLE, cause=Cause.REPORTED)], False),
        ([CRASH], True),
        ([CRASH] * 2, True),
        ([CRASH] * 3, False),
        ([CRASH, *preempted(5), CRASH], True),
        ([CRASH, CRASH, *preempted(5), CRASH], False),
        ([ended(OutcomeKind.CRASHED, step) for step in (1, 2, 3, 4, 5)], True),
        ([ended(OutcomeKind.CRASHED, step) for step in (1, 5, 5, 4)], False),
        ([ended(OutcomeKind.CRASHED, step) for step in (5, 5, 6, 6)], True),
        ([FAILURE], False),
        ([NO_MEMORY], True),
        ([NO_MEMORY] * 2, False),
        ([NO_MEMORY, CRASH], True),
        ([NO_MEMORY, CRASH, NO_MEMORY], False),
        (preempted(0), True),
        (preempted(*[5] * 9), True),
        (preempted(*[5] * 9, 6), True),
        (preempted(4, *[5] * 9), True),
        ([CRASH, *preempted(*[0] * 9)], True),
        ([*preempted(*[5] * 9), CRASH], True),
    ],
)
def test_which_attempts_are_followed_by_another(attempts: list[Ended], again: bool) -> None:
    assert POLICY.wants_another(attempts, OLD) is again
    assert POLICY.wants_another(attempts) is again


@pytest.mark.parametrize(
    ("attempts", "again"),
    [
        ([FAILURE], True),
        ([CRASH] * 3, True),
        ([ended(OutcomeKind.COMPLETE)], False),
        ([NO_MEMORY] * 2, False),
    ],
)
def test_changed_code_is_given_another_chance(attempts: list[Ended], again: bool) -> None:
    assert POLICY.wants_another(attempts, NEW) is again
    assert RetryPolicy(failed=True).wants_another(attempts, OLD) is again


@pytest.mark.parametrize("attempts", [preempted(*[5] * 10), preempted(4, *[5] * 10)])
def test_a_trial_that_never_moves_waits_for_a_user(attempts: list[Ended]) -> None:
    assert not POLICY.wants_another(attempts)
    assert POLICY.wants_another(attempts, OLD, anew=True)


@given(st.lists(st.sampled_from([CRASH, FAILURE, NO_MEMORY, *preempted(0, 1, 2)]), max_size=5))
def test_retrying_ends(attempts: list[Ended]) -> None:
    for _ in range(60):
        if not POLICY.wants_another(attempts):
            break
        attempts = [*attempts, CRASH if len(attempts) % 2 else preempted(7)[0]]
    assert not POLICY.wants_another(attempts)


@pytest.mark.parametrize(
    "origin",
    [
        FromSequence(4),
        Adaptive(4, "bayes", seen=10),
        Listed(4),
        Imported(4, "optuna"),
        Replicate(4, of=1),
    ],
)
def test_a_trial_has_the_index_of_its_origin(origin: Origin) -> None:
    trial = Trial("depth", 7, Setting(), {"lr": 0.1}, 3, origin)
    assert trial.index == 4
    assert Attempt(trial, 2, "token", "folder").name == "depth/7 attempt 2"


def test_code_as_text() -> None:
    assert str(Code()) == "no commit"
    assert str(Code("0123456789abcdef")) == "0123456789"
    assert str(Code("0123456789abcdef", "fedcba987654")) == "0123456789 + changes fedcba98"
    assert str(Code(None, "fedcba987654")) == "no commit + changes fedcba98"
