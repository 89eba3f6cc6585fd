"""Results as a JSON document: strict, versioned, with the study as data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from exported import columns, floats, results_of, whole
from strategies import texts
from tunebook.core import codec
from tunebook.core.curves import Curve
from tunebook.core.results import Results
from tunebook.exchange import documents
from tunebook.exchange.tables import What


def refuse(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def read(results: Results, what: What = "trials") -> Any:
    return json.loads(b"".join(documents.lines(results, what)), parse_constant=refuse)


@given(columns(whole, floats.filter(np.isfinite), texts))
def test_everything_comes_back(results: Results) -> None:
    document = read(results, "curves")
    assert (document["kind"], document["version"]) == ("tunebook results", 1)
    assert codec.loads(json.dumps(document["study"])) == results.study
    for record, found in zip(results, document["trials"], strict=True):
        assert found["params"] == dict(record.trial.config)
        assert codec.loads(json.dumps(found["origin"])) == record.trial.origin
        (attempt,) = found["attempts"]
        assert codec.loads(json.dumps(attempt["outcome"])) == record.outcome
        assert found["curves"].keys() == record.curves.keys()
        for name, curve in found["curves"].items():
            values = [float(value) for value in curve["values"]]
            assert Curve.of(curve["steps"], values) == record.curves[name]
            assert curve["seconds"] == record.curves[name].seconds.tolist()


def test_what_is_not_finite_is_text() -> None:
    values = [0.5, float("nan"), float("inf"), float("-inf")]
    results = results_of([{}], [{"error": Curve.of([1, 2, 3, 4], values)}])
    (trial,) = read(results, "curves")["trials"]
    assert trial["curves"]["error"]["values"] == [0.5, "nan", "inf", "-inf"]
    assert trial["metrics"] == {"error": "-inf"}
    assert (trial["trial"], trial["status"], trial["seconds"]) == (1, "complete", 1.5)


def test_curves_are_left_out_unless_asked_for() -> None:
    results = results_of([{}], [{"error": Curve.of([1], [0.5])}])
    (trial,) = read(results)["trials"]
    assert "curves" not in trial
    assert trial["value"] == 0.5
    assert read(results_of([]))["trials"] == []


def test_long_curves_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST", 2)
    curve = Curve.of(range(5), range(5))
    (trial,) = read(results_of([{}], [{"a": curve, "b": curve}]), "curves")["trials"]
    assert trial["curves"]["b"]["steps"] == trial["curves"]["a"]["values"] == [0, 1, 2, 3, 4]
