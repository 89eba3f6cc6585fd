"""Seeds on the way to a goal that break do not count; those that diverge have missed it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulated_batches import Machine, subject
from simulated_probes import DIVERGED, results_of
from simulated_remedies import BROKEN
from tunebook.core.domains import Value
from tunebook.core.findings import Verdict
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.core.trials import Outcome
from tunebook.procedures.answers import Answer, follow
from tunebook.procedures.batch_size.probe import probe

MACHINE = Machine(steps=lambda size: 100 * (1 + 64 / size))


def lost(record: TrialRecord, outcome: Outcome) -> TrialRecord:
    (attempt,) = record.attempts
    return replace(record, attempts=(replace(attempt, outcome=outcome),), curves={})


def asked(stages: tuple[str, ...], outcome: Outcome, count: int, seeds: int = 3) -> Answer:
    """The answer where the first trials of some stages end otherwise."""

    def run(study: Study) -> Results:
        results = results_of(study, MACHINE.train)
        if not study.name.endswith(stages):
            return results
        trials = results.trials
        ended = [lost(record, outcome) for record in trials[:count]]
        return replace(results, trials=(*ended, *trials[count:]))

    options: dict[str, Value] = {"goal": 0.1, "sizes": "16,64,256", "seeds": seeds}
    return follow(probe(subject(), {"largest": 512, **options}), run)


def test_seeds_that_broke_did_not_miss_the_goal() -> None:
    answer = asked(("goal-64-seeds",), BROKEN, 2)
    finding = answer.findings[0]
    assert finding.verdict is Verdict.GOOD
    assert finding.numbers["steps_at_64"] == pytest.approx(200, rel=0.15)
    assert " at 256. Seeds that broke do not count: 2 of 3 at 64. The" in finding.sentence
    assert "not reached" not in finding.sentence
    assert finding.advice.startswith(
        "Look at a trial that broke, tunebook show small.batch-size.goal-64-seeds 1; then probe "
        "again with --retry-failed. "
    )
    assert answer.edits == ()


@pytest.mark.parametrize("stages", [("goal-64-seeds",), ("goal-64", "goal-64-2", "goal-64-3")])
def test_nothing_is_known_of_a_size_whose_trials_all_broke(stages: tuple[str, ...]) -> None:
    answer = asked(stages, BROKEN, 9)
    finding = answer.findings[0]
    assert finding.verdict is Verdict.UNKNOWN
    assert " at 256. Nothing is known of 64: all trials broke there. No curve" in finding.sentence
    assert ("64", "unknown") in [(row[0], row[2]) for row in answer.figures[0].table.rows]


def test_half_of_the_seeds_are_enough() -> None:
    seeds = ("goal-16-seeds", "goal-64-seeds", "goal-256-seeds")
    finding = asked(seeds, DIVERGED, 1, seeds=2).findings[0]
    assert finding.verdict is Verdict.GOOD
    assert (
        " at 256. It was reached by some seeds only: 1 of 2 at 16, 1 of 2 at 64 and 1 of 2 at 256. "
    ) in finding.sentence


def test_fewer_than_half_are_not() -> None:
    """A curve through the few that did says nothing of which size to take."""
    seeds = ("goal-16-seeds", "goal-64-seeds", "goal-256-seeds")
    answer = asked(seeds, DIVERGED, 2)
    finding = answer.findings[0]
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence.startswith(
        "valid/error <= 0.1 was reached by some seeds only: 1 of 3 at 16, 1 of 3 at 64 and 1 of 3 "
        "at 256. "
    )
    assert "Training time" not in finding.sentence
    assert answer.figures[0].sentence == "Median steps to valid/error <= 0.1: not known."


def test_a_size_that_most_seeds_missed_is_not_taken() -> None:
    finding = asked(("goal-64-seeds",), DIVERGED, 2).findings[0]
    assert "It was reached by some seeds only: 1 of 3 at 64." in finding.sentence
    assert finding.numbers["soonest"] != 64
