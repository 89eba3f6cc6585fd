"""Outcomes by trial, and what attempts took."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hostile_evidence import COMPLETE, DIVERGED, Ran, evidence_of
from tunebook.charts.figures import Figure, Points
from tunebook.charts.timeline import BY_VALUE, outcome_timeline
from tunebook.core.knobs import Knobs
from tunebook.core.results import AttemptRecord, Results
from tunebook.core.space import Space
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.diagnosis.gathering import gather

SPACE = Space.of(fixed={"a": 1})
FAILED = Outcome(OutcomeKind.FAILED, "ValueError: no")


def drawn(ran: list[Ran], **study: object) -> Figure:
    figure = outcome_timeline(evidence_of(SPACE, ran, **study))  # type: ignore[arg-type]
    assert figure is not None
    return figure


def points(figure: Figure, panel: int = 0) -> dict[str, Points]:
    return {mark.name: mark for mark in figure.panels[panel].marks if isinstance(mark, Points)}


def test_each_outcome_has_a_row_of_its_trials() -> None:
    ran = [Ran(value=0.1), Ran(outcome=DIVERGED), Ran(outcome=FAILED), Ran(outcome=None)]
    figure = drawn(ran)
    assert figure.panels[0].y.categories == ("complete", "infeasible", "failed", "running")
    found = points(figure)
    assert found["infeasible"].crosses and found["running"].hollow
    assert [(p.x.tolist(), p.y.tolist()) for p in found.values()] == [
        ([1.0], [0.0]),
        ([2.0], [1.0]),
        ([3.0], [2.0]),
        ([4.0], [3.0]),
    ]
    assert len({mark.group for mark in found.values()}) == 4


def test_infeasible_by_value_is_apart() -> None:
    figure = drawn([Ran(value=0.1), Ran(value=0.9)], knobs=Knobs(chance=0.9))
    assert points(figure)[BY_VALUE].labels == (
        "trial 2, attempt 1: 0.9 is no better than chance (0.9)",
    )


def test_every_attempt_counts_with_its_seconds() -> None:
    evidence = evidence_of(SPACE, [Ran(value=0.1)])
    crashed = Outcome(OutcomeKind.CRASHED, "killed")
    attempts = (
        AttemptRecord(1, "t", "", outcome=crashed, seconds=3.0),
        AttemptRecord(2, "u", "", outcome=COMPLETE, seconds=200.0),
    )
    record = replace(evidence.readings[0].record, attempts=attempts)
    figure = outcome_timeline(gather(Results(evidence.study, (record,))))
    assert figure is not None
    seconds = points(figure, 1)
    assert seconds["crashed"].y.tolist() == [3.0] and seconds["complete"].y.tolist() == [200.0]
    assert figure.sentence == (
        "1 trial in 2 attempts: 1 complete and 1 crashed; together they took 3.383 minutes."
    )
    assert figure.table.rows == (
        ("complete", "1", "200", "finished"),
        ("crashed", "1", "3", "killed"),
    )


def test_without_times_there_is_one_panel() -> None:
    figure = drawn([Ran(value=0.1, seconds=0.0)])
    assert len(figure.panels) == 1
    assert figure.sentence == "1 trial: 1 complete."


def test_very_many_attempts_are_spread_evenly() -> None:
    figure = drawn([Ran(value=0.1)] * 1000)
    numbers = points(figure)["complete"].x
    assert len(numbers) == 400
    assert np.diff(numbers).max() <= 3
    assert figure.note == "400 of 1000 attempts are drawn, evenly within each outcome."
