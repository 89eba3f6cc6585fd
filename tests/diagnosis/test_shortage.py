"""What is said where results are too few: never to run what has ended, and how many it takes."""

from __future__ import annotations

from hostile_evidence import COMPLETE, DIVERGED, Ran, evidence_of
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.space import Space
from tunebook.diagnosis.shortage import more_trials, no_result

SPACE = Space.of(nuisance={"rate": Float(0, 1)})


def ended(works: int, fails: int, running: int = 0) -> Evidence:
    outcomes = [COMPLETE] * works + [DIVERGED] * fails + [None] * running
    return evidence_of(SPACE, [Ran({"rate": 0.5}, 0.2, outcome=one) for one in outcomes])


def test_without_a_result_the_cause_is_said() -> None:
    assert no_result(ended(0, 0)) == ("There is no result yet.", "Run the study.")
    assert no_result(ended(0, 1, 1)) == ("There is no result yet.", "Wait for the first results.")
    assert no_result(ended(0, 12)) == (
        "No trial has a result.",
        "Find a configuration that works before any further trial.",
    )


def test_more_trials_are_counted_with_those_that_will_not_work() -> None:
    assert more_trials(ended(4, 0), 1) == "Run at least 1 more trial."
    assert more_trials(ended(4, 4), 4) == "Run at least 8 more trials: 50% of them do not work."
    assert more_trials(ended(0, 12), 4).startswith("Find a configuration that works")
