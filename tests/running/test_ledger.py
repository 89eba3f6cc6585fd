"""The ledger knows what runs, what ended, and what is to be tried again."""

from __future__ import annotations

import pytest

from coordination import COMPLETE, CRASHED, FAILED, PREEMPTED, points, small_study
from tunebook.core.events import Event, Finished, Resumed, Started, Tick
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.trials import Attempt, Code, FromSequence, Outcome, RetryPolicy, Trial
from tunebook.running.ledger import Ledger

STUDY = small_study(3)
OLD, NEW = Code("old"), Code("new")


def trial(number: int, code: Code = OLD) -> Trial:
    setting = STUDY.space.settings()[0]
    return Trial(STUDY.name, number, setting, {"x": 0.5}, 0, FromSequence(number - 1), code)


def results(*histories: list[Outcome | None], code: Code = OLD) -> Results:
    """A study whose trials have attempts with these outcomes."""
    records = []
    for number, history in enumerate(histories, 1):
        attempts = tuple(
            AttemptRecord(n, f"{number}.{n}", f"/{number}/{n}", code, outcome)
            for n, outcome in enumerate(history, 1)
        )
        records.append(TrialRecord(trial(number, code), attempts))
    return Results(STUDY, tuple(records))


def ledger_of(*histories: list[Outcome | None], code: Code = OLD, **policy: int) -> Ledger:
    return Ledger(results(*histories), RetryPolicy(**policy), code)


def again(ledger: Ledger) -> list[int]:
    return [trial.number for trial in ledger.to_try_again()]


def attempt(number: int, code: Code = OLD) -> Attempt:
    return Attempt(trial(number, code), 1, f"{number}.1", f"/{number}/1")


def test_an_empty_study() -> None:
    ledger = ledger_of()
    assert (ledger.unfinished(), ledger.running, again(ledger)) == ([], 0, [])


def test_attempts_left_behind_are_found_with_their_tokens() -> None:
    ledger = ledger_of([None], [COMPLETE], [CRASHED, None])
    left = ledger.unfinished()
    assert [(a.trial.number, a.number, a.token, a.folder) for a in left] == [
        (1, 1, "1.1", "/1/1"),
        (3, 2, "3.2", "/3/2"),
    ]
    assert ledger.running == 2
    assert again(ledger) == []


def test_a_new_run_tries_again_what_the_policy_wants() -> None:
    histories = ([FAILED], [CRASHED], [PREEMPTED], [COMPLETE], [CRASHED] * 3)
    assert again(ledger_of(*histories)) == [2, 3]
    assert again(ledger_of(*histories, code=NEW)) == [1, 2, 3, 5]
    assert again(ledger_of(*histories, failed=True)) == [1, 2, 3, 5]


def test_each_trial_is_due_once() -> None:
    ledger = ledger_of([PREEMPTED], [PREEMPTED])
    assert next(ledger.to_try_again()).number == 1
    assert again(ledger) == [2]
    assert again(ledger) == []


def test_what_is_claimed_is_known_and_runs() -> None:
    ledger = ledger_of()
    ledger.claimed(attempt(2))
    assert ledger.running == 1
    assert ledger.unfinished() == [attempt(2)]
    assert ledger.knows((STUDY.space.settings()[0].key, 1))
    assert not ledger.knows((STUDY.space.settings()[0].key, 0))
    assert not ledger.knows((STUDY.space.settings()[1].key, 1))


def finish(ledger: Ledger, outcome: Outcome, *before: Event, code: Code = OLD) -> None:
    ledger.claimed(attempt(1, code))
    for event in before:
        ledger.note(event)
    ledger.note(Finished(attempt(1, code), outcome, 1.0))


@pytest.mark.parametrize("failed", [False, True])
def test_a_failure_is_not_tried_again_by_the_code_that_failed(failed: bool) -> None:
    ledger = ledger_of(failed=failed)
    finish(ledger, FAILED)
    assert ledger.running == 0
    assert again(ledger) == []


def test_a_crash_is_tried_again_while_the_policy_allows() -> None:
    ledger = ledger_of(crashes=2)
    finish(ledger, CRASHED)
    assert again(ledger) == [1]
    finish(ledger, CRASHED)
    assert again(ledger) == []


def test_crashes_of_earlier_runs_count() -> None:
    ledger = ledger_of([CRASHED, CRASHED], crashes=3)
    assert again(ledger) == [1]
    finish(ledger, CRASHED)
    assert again(ledger) == []


def test_a_failure_left_behind_by_older_code_is_tried_again_by_the_new() -> None:
    ledger = ledger_of([None], code=NEW)
    (left,) = ledger.unfinished()
    ledger.note(Finished(left, FAILED, 1.0))
    assert again(ledger) == [1]
    finish(ledger, FAILED, code=NEW)
    assert again(ledger) == []


def test_a_preemption_is_tried_again_only_while_it_moves() -> None:
    ledger = ledger_of(stuck_preemptions=2)
    finish(ledger, PREEMPTED, points(attempt(1), 0, 4))
    assert again(ledger) == [1]
    finish(ledger, PREEMPTED, Resumed(attempt(1), 1, 4), points(attempt(1), 5, 9))
    assert again(ledger) == [1]
    finish(ledger, PREEMPTED, Resumed(attempt(1), 1, 9))
    assert again(ledger) == []


def test_other_events_change_nothing() -> None:
    ledger = ledger_of([None])
    ledger.note(Tick(1))
    ledger.note(Started(ledger.unfinished()[0], "here", 1))
    assert ledger.running == 1
    assert again(ledger) == []
