"""Results as tables: trials and points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exported import results_of
from tunebook.core.curves import Curve
from tunebook.exchange import tables

FIRST = (
    *("study", "trial", "setting", "status", "reason", "value", "step", "objective", "better"),
    *("attempts", "seconds", "seed"),
)


def test_a_row_for_each_trial_has_a_cell_for_each_column() -> None:
    error, loss = Curve.of([1, 2], [0.5, 0.25]), Curve.of([9], [3.0])
    logged = [{"error": error}, {"loss": loss, "none": Curve.of([], [])}]
    table = tables.trials(results_of([{"a": 1}, {"b": "x"}], logged))
    assert table.columns == (
        *FIRST, "params.a", "metrics.error", "params.b", "metrics.loss"
    )  # fmt: skip
    assert [row[-4:] for row in table.rows] == [(1, 0.25, None, None), (None, None, "x", 3.0)]
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert (first["study"], first["trial"], first["value"], first["step"]) == ("points", 1, 0.25, 2)
    assert (first["objective"], first["better"]) == ("error", "lower")


def test_a_study_without_trials_has_columns() -> None:
    assert tables.trials(results_of([])) == tables.Table(FIRST, ())


def test_points_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST", 2)
    curve = Curve.of([1, 2, 3], [0.1, np.nan, 0.3], [4, 5, 6])
    results = results_of([{}, {}], [{"b": curve, "a": Curve.of([7], [8])}, {}])
    found = list(tables.pieces(results))
    assert [(p.trial, p.metric, p.steps.tolist()) for p in found] == [
        (1, "a", [7]),
        (1, "b", [1, 2]),
        (1, "b", [3]),
    ]
    assert found[-1].values.tolist() == [0.3]
    assert found[-1].seconds.tolist() == [6]
    assert tables.count(results) == 4


def test_a_trial_that_runs_has_no_reason_and_no_time_yet() -> None:
    ended = results_of([{}])
    (record,) = ended.trials
    (attempt,) = record.attempts
    open_record = replace(record, attempts=(replace(attempt, outcome=None, seconds=0.0),))
    running = replace(ended, trials=(open_record,))
    for results, empty in ((ended, False), (running, True)):
        table = tables.trials(results)
        row = dict(zip(table.columns, table.rows[0], strict=True))
        assert [row["reason"] is None, row["seconds"] is None] == [empty, empty]
