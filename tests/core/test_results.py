"""Results: counts, ranks, rows and frames."""

from __future__ import annotations

import pytest

from searchable import study_in
from tunebook.core.curves import Curve
from tunebook.core.errors import UnknownName
from tunebook.core.objective import Measure, Metric, Objective
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting, Space
from tunebook.core.trials import Code, Ended, FromSequence, Outcome, OutcomeKind, Trial

SPACE = Space.of(scientific={"blocks": [2, 3]}, fixed={"width": 8})
TWO, THREE = SPACE.settings()
COMPLETE = Outcome(OutcomeKind.COMPLETE, "it ended")
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "NaN at step 3")


def trial(
    number: int, setting: Setting, outcome: Outcome | None, *values: float, seconds: float = 2.0
) -> TrialRecord:
    config = {"blocks": setting.config["blocks"], "width": 8}
    return TrialRecord(
        Trial("points", number, setting, config, number * 11, FromSequence(number - 1)),
        (AttemptRecord(1, "token", "folder", outcome=outcome, seconds=seconds),),
        {"error": Curve.of(range(1, len(values) + 1), values), "empty": Curve.of([], [])},
    )


RESULTS = Results(
    study_in(SPACE),
    (
        trial(1, TWO, COMPLETE, 0.5, 0.3, 0.4),
        trial(2, THREE, COMPLETE, 0.6, 0.2),
        trial(3, TWO, DIVERGED, 0.1),
        trial(4, THREE, None, 0.1),
        trial(5, TWO, COMPLETE, 0.3),
        trial(6, TWO, COMPLETE),
    ),
)


def test_trials_by_number() -> None:
    assert len(RESULTS) == 6
    assert [record.trial.number for record in RESULTS] == [1, 2, 3, 4, 5, 6]
    assert RESULTS[3].trial.seed == 33
    with pytest.raises(UnknownName, match="points has no trial 9; its trials are 1 to 6"):
        RESULTS[9]
    with pytest.raises(UnknownName, match="points has no trial 1; its trials are none so far"):
        Results(RESULTS.study)[1]


def test_the_last_attempt_decides_about_the_status() -> None:
    crash = AttemptRecord(1, "a", "f", outcome=Outcome(OutcomeKind.CRASHED, "signal 9"), seconds=3)
    running = AttemptRecord(2, "b", "f", seconds=4.0, last_step=7, code=Code("abc"))
    record = TrialRecord(RESULTS[1].trial, (crash,))
    assert record.status == "crashed"
    again = TrialRecord(RESULTS[1].trial, (crash, running))
    assert (again.status, again.outcome, again.seconds) == ("running", None, 7.0)
    assert running.ended == Ended(None, 7, Code("abc"))
    assert TrialRecord(RESULTS[1].trial).status == "running"


def test_counts_in_the_order_of_outcomes() -> None:
    assert list(RESULTS.counts().items()) == [("complete", 4), ("infeasible", 1), ("running", 1)]
    assert RESULTS.counts(THREE) == {"complete": 1, "running": 1}
    assert Results(RESULTS.study).counts() == {}


def test_only_complete_trials_are_measured() -> None:
    measures = [RESULTS.measure(record) for record in RESULTS]
    assert measures == [Measure(0.3, 2), Measure(0.2, 2), None, None, Measure(0.3, 1), None]
    last = Objective(Metric("error"), "last")
    assert RESULTS.measure(RESULTS[1], last) == Measure(0.4, 3)


def test_ranks_are_best_first_and_ties_by_number() -> None:
    assert [record.trial.number for record, _ in RESULTS.ranked()] == [2, 1, 5]
    assert [record.trial.number for record, _ in RESULTS.ranked(TWO)] == [1, 5]
    assert RESULTS.best() == (RESULTS[2], Measure(0.2, 2))
    assert Results(RESULTS.study).best() is None


def test_higher_may_be_better() -> None:
    study = study_in(SPACE)
    higher = type(study)("points", SPACE, Objective(Metric("error", "higher"), "last"))
    ranked = Results(higher, RESULTS.trials).ranked()
    assert [measure.value for _, measure in ranked] == [0.4, 0.3, 0.2]


def test_rows() -> None:
    rows = RESULTS.rows()
    assert rows[0] == {
        "trial": 1,
        "setting": "blocks=2",
        "status": "complete",
        "reason": "it ended",
        "value": 0.3,
        "step": 2,
        "attempts": 1,
        "seconds": 2.0,
        "seed": 11,
        "params.blocks": 2,
        "params.width": 8,
        "metrics.error": 0.4,
    }
    assert (rows[3]["status"], rows[3]["reason"], rows[3]["value"]) == ("running", "", None)
    assert "metrics.error" not in rows[5]


def test_frames_hold_the_rows() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    pandas, polars = RESULTS.to_pandas(), RESULTS.to_polars()
    assert pandas["trial"].tolist() == polars["trial"].to_list() == [1, 2, 3, 4, 5, 6]
    assert list(pandas.columns) == polars.columns == list(RESULTS.rows()[0])
    assert polars["value"].to_list() == [0.3, 0.2, None, None, 0.3, None]
    assert len(Results(RESULTS.study).to_pandas()) == len(Results(RESULTS.study).to_polars()) == 0
