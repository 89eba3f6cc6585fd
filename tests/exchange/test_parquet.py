"""Results as Parquet: types, row groups, and the study in the metadata."""

from __future__ import annotations

import io
import sys

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import ParquetFile

from exported import columns, floats, results_of, whole
from strategies import texts, values
from tunebook.core import codec
from tunebook.core.curves import Curve
from tunebook.core.errors import StudyError
from tunebook.core.results import Results
from tunebook.exchange import parquet, tables
from tunebook.exchange.tables import What


def read(results: Results, what: What = "trials") -> pyarrow.Table:
    return opened(results, what).read()


def opened(results: Results, what: What = "trials") -> ParquetFile:
    file = io.BytesIO()
    parquet.write(results, what, file)
    return ParquetFile(io.BytesIO(file.getvalue()))


@given(columns(whole, floats, st.booleans(), texts))
def test_every_type_comes_back(results: Results) -> None:
    table = read(results)
    configs = [record.trial.config for record in results]
    kinds = [str(table.schema.field(f"params.x{index}").type) for index in range(4)]
    assert kinds == ["int64", "double", "bool", "string"]
    for name in ("x0", "x2", "x3"):
        assert table[f"params.{name}"].to_pylist() == [config[name] for config in configs]
    assert (
        table["params.x1"].to_numpy().tobytes()
        == np.array([config["x1"] for config in configs]).tobytes()
    )
    assert codec.loads(table.schema.metadata[b"tunebook.study"].decode()) == results.study


@given(columns(values))
def test_any_column_can_be_written(results: Results) -> None:
    found = read(results)["params.x0"].to_pylist()
    given_values = [record.trial.config["x0"] for record in results]
    assert [value is None for value in found] == [value is None for value in given_values]


@pytest.mark.parametrize(
    ("given_values", "kind"),
    [
        ([1, None], "int64"),
        ([True, False], "bool"),
        ([True, 1], "string"),
        ([1, 0.5], "float64"),
        ([2**60 + 1, 0.5], "string"),
        ([2**63], "string"),
        ([-(2**63)], "int64"),
        (["a", 1], "string"),
        ([None], "string"),
    ],
)
def test_the_type_of_a_column_keeps_its_values(given_values: list[object], kind: str) -> None:
    assert parquet.kind("params.x", given_values) == kind


def test_an_empty_study_has_types() -> None:
    schema = read(results_of([])).schema
    assert [str(schema.field(name).type) for name in ("trial", "value", "status")] == [
        "int64",
        "double",
        "string",
    ]


def test_points_in_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST", 4)
    monkeypatch.setattr(parquet, "_ROWS", 8)
    curve = Curve.of(range(30), np.arange(30) / 7, np.arange(30))
    results = results_of([{}, {}], [{"a": curve, "b": curve}, {"c": Curve.of([1], [np.nan])}])
    file = opened(results, "curves")
    assert file.num_row_groups > 3
    assert max(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)) <= 12
    table = file.read()
    assert table["metric"].to_pylist() == ["a"] * 30 + ["b"] * 30 + ["c"]
    assert table["trial"].to_pylist() == [1] * 60 + [2]
    assert table["value"].to_numpy()[:60].tobytes() == np.tile(curve.values, 2).tobytes()
    assert table["step"].to_pylist()[-3:] == [28, 29, 1]
    assert read(results_of([]), "curves").num_rows == 0


def test_half_a_character_is_shown() -> None:
    assert read(results_of([{"x": "\ud800"}]))["params.x"].to_pylist() == ["\\ud800"]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StudyError) as caught:
        parquet.write(results_of([]), "trials", io.BytesIO())
    assert str(caught.value) == (
        "writing Parquet needs pyarrow: pip install 'tunebook[parquet]', or choose --format csv "
        "or json"
    )
