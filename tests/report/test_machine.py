"""The report as plain data."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from reported import by_hand, compared, records, reports, study
from tunebook.core.results import Results
from tunebook.diagnosis.gathering import gather
from tunebook.report import machine
from tunebook.report.making import Report, assemble


def test_the_shape() -> None:
    data = machine.data(by_hand())
    assert {key: value for key, value in data.items() if not isinstance(value, list)} == {
        "study": "model",
        "goal": "Which model is better?",
        "file": None,
        "version": "1.2.3",
        "made": "2026-03-04T12:30:00",
        "objective": {
            "metric": "valid/error",
            "better": "lower",
            "reduction": "best",
            "over": 1,
            "constraints": [],
        },
        "state": "finished",
        "trials": 8,
        "planned": 8,
        "outcomes": {"complete": 7, "infeasible": 1},
        "tally": {"problem": 1, "watch": 1, "unknown": 1, "good": 2},
        "fixed": {"batch_size": 128},
        "comparison": None,
    }
    assert data["findings"][0] == {
        "question": "search-space",
        "text": "Is the search space large enough?",
        "anchor": "search-space",
        "verdict": "problem",
        "sentence": "4 of the best 5 trials lie in the top tenth of learning_rate.",
        "advice": "Expand it: learning_rate: {log: [1e-4, 1.0]}.",
        "method": "The best fifth against all trials, by permutation.",
        "numbers": {"share": 0.8, "beyond": "nan"},
        "trials": [3, 7],
        "claims": [
            {
                "sentence": "learning_rate, high side",
                "level": "problem",
                "p": 0.003,
                "advice": "",
                "subject": "learning_rate",
                "numbers": {},
                "trials": [],
            },
            *data["findings"][0]["claims"][1:],
        ],
    }
    assert [claim["p"] for claim in data["findings"][0]["claims"]] == [0.003, 0.4, None]
    assert [row["trial"] for row in data["best"]] == [8, 7, 6, 4, 3, 2, 1]
    assert [arm["setting"] for arm in data["settings"]] == [{"model": "mlp"}, {"model": "cnn"}]
    assert data["pictures"][1] == {
        "key": "best-so-far",
        "title": "Best so far",
        "sentence": "It falls.",
        "note": "It falls.",
        "columns": ["trial", "Best so far"],
        "rows": [["1", "It falls."]],
    }


def test_the_other_study_is_a_report_of_its_own() -> None:
    comparison = machine.data(compared())["comparison"]
    assert comparison["differences"] == ["+ depth: fixed at 3"]
    assert [picture["key"] for picture in comparison["pictures"]] == ["compare"]
    assert (comparison["other"]["study"], comparison["other"]["comparison"]) == ("other", None)


@pytest.mark.parametrize(
    ("count", "state"), [(0, "unfinished"), (3, "unfinished"), (8, "finished")]
)
def test_states(count: int, state: str) -> None:
    results = Results(study(), records(study()).trials[:count])
    assert machine.data(assemble(gather(results), ()))["state"] == state


@given(reports())
def test_any_report_is_strict_json(report: Report) -> None:
    data = machine.data(report)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
