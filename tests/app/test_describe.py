"""Studies and trials as plain data."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given

from coordination import COMPLETE, CRASHED, FAILED, small_study
from shown import results
from tunebook.app import describe
from tunebook.core.curves import Curve
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Config, Setting
from tunebook.core.trials import Cause, FromSequence, Outcome, OutcomeKind, Trial

INFEASIBLE = Outcome(OutcomeKind.INFEASIBLE, "error became nan", Cause.DIVERGED)


def record(number: int, outcome: Outcome | None, config: Config | None = None) -> TrialRecord:
    trial = Trial("small", number, Setting(), config or {}, 0, FromSequence(number))
    return TrialRecord(trial, (AttemptRecord(1, "token", "folder", outcome=outcome),))


@given(results())
def test_everything_can_be_written_as_json(found: Results) -> None:
    data = [
        describe.study(found),
        describe.sheet([found], Path(".tunebook")),
        *(describe.trial(found, record) for record in found),
        describe.comparison([(found, record) for record in found]),
    ]
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_trials_without_a_result_begin_with_those_that_broke() -> None:
    ends = [INFEASIBLE, COMPLETE, CRASHED, None, FAILED, INFEASIBLE]
    found = Results(small_study(), tuple(record(n, end) for n, end in enumerate(ends, 1)))
    rows = describe.study(found)["not_complete"]
    assert [(row["trial"], row["status"]) for row in rows] == [
        (5, "failed"),
        (3, "crashed"),
        (1, "infeasible"),
        (6, "infeasible"),
    ]
    assert [row["trial"] for row in describe.study(found, top=1)["not_complete"]] == [5]


def test_settings_are_those_of_the_study_and_those_that_were_run() -> None:
    found = Results(small_study(), (record(1, COMPLETE),))
    settings = [row["setting"] for row in describe.study(found)["settings"]]
    assert settings == [{"arm": "a"}, {"arm": "b"}, {}]


def test_a_comparison_tells_a_missing_parameter_from_an_equal_one() -> None:
    configs: list[Config] = [{"a": 1, "b": None, "c": 3}, {"a": 1, "c": 4}]
    found = Results(
        small_study(), tuple(record(n, COMPLETE, config) for n, config in enumerate(configs, 1))
    )
    data = describe.comparison([(found, record) for record in found])
    assert data["differences"] == {"b": [None, None], "c": [3, 4]}
    assert data["equal"] == {"a": 1}


def test_a_curve_is_told_by_its_finite_values() -> None:
    curve = Curve.of([1, 2, 3], [float("inf"), 2.0, float("nan")])
    one = record(1, COMPLETE)
    data = describe.trial(Results(small_study()), TrialRecord(one.trial, (), {"loss": curve}))
    assert data["metrics"] == {
        "loss": {"points": 3, "last": "nan", "lowest": 2.0, "highest": 2.0, "last_step": 3}
    }
    assert data["status"] == "running"


def test_what_a_program_printed(tmp_path: Path) -> None:
    one = record(1, FAILED)
    attempt = AttemptRecord(1, "token", str(tmp_path))
    assert describe.printed(TrialRecord(one.trial)) == ""
    assert describe.printed(TrialRecord(one.trial, (attempt,))) == ""
    (tmp_path / "log.txt").write_bytes(b"caf\xe9\n")
    assert describe.printed(TrialRecord(one.trial, (attempt,))) == "caf\ufffd\n"
