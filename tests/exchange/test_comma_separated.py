"""Results as CSV, read back by pandas and by Python's own reader."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pandas
from hypothesis import given
from hypothesis import strategies as st

from exported import columns, curves, floats, results_of, whole
from strategies import texts
from tunebook.core.curves import Curve
from tunebook.core.results import Results
from tunebook.exchange import comma_separated
from tunebook.exchange.tables import What


def written(results: Results, what: What = "trials", raw: bool = False) -> str:
    return b"".join(comma_separated.lines(results, what, raw=raw)).decode()


def frame(content: str) -> pandas.DataFrame:
    return pandas.read_csv(io.StringIO(content))


def cells(content: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content, newline="")))


def bits(values: Any) -> bytes:
    """The bits of real numbers; every NaN is one NaN, since text cannot tell them apart."""
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(array), np.nan, array).tobytes()


@given(columns(whole, floats, st.booleans()))
def test_numbers_come_back_bit_for_bit(results: Results) -> None:
    found = frame(written(results))
    configs = [record.trial.config for record in results]
    assert found["params.x0"].dtype == np.int64
    assert found["params.x0"].tolist() == [config["x0"] for config in configs]
    assert bits(found["params.x1"]) == bits([config["x1"] for config in configs])
    assert found["params.x2"].tolist() == [config["x2"] for config in configs]


@given(st.lists(texts, min_size=1, max_size=5))
def test_text_comes_back(values: list[str]) -> None:
    results = results_of([{"x": value} for value in values], reasons=values)
    for raw in (False, True):
        found = cells(written(results, raw=raw))
        read = (lambda text: text) if raw else comma_separated.original
        assert [read(row["params.x"]) for row in found] == values
        assert [read(row["reason"]) for row in found] == values


@given(texts)
def test_the_name_of_a_metric_comes_back(name: str) -> None:
    results = results_of([{}], [{name: Curve.of([3], [0.5])}])
    (row,) = cells(written(results, "curves"))
    assert comma_separated.original(row["metric"]) == name
    (header, _) = csv.reader(io.StringIO(written(results), newline=""))
    assert header[-1] == f"metrics.{name}"


@given(st.lists(curves(), min_size=1, max_size=3))
def test_points_come_back_bit_for_bit(given_curves: list[Curve]) -> None:
    results = results_of([{}] * len(given_curves), [{"loss": curve} for curve in given_curves])
    found = frame(written(results, "curves"))
    for number, curve in enumerate(given_curves, 1):
        mine = found[found["trial"] == number]
        assert mine["step"].tolist() == curve.steps.tolist()
        assert bits(mine["value"]) == bits(curve.values)
        assert bits(mine["seconds"]) == bits(curve.seconds)


def test_a_file_as_it_looks() -> None:
    results = results_of(
        [{"x": -0.5, "text": "-O3"}, {"x": None, "text": ""}, {"text": 'say "a, b"'}],
        [{"error": Curve.of([1], [value])} for value in (0.25, float("nan"), float("-inf"))],
    )
    found = [line.split(",", 12)[-1] for line in written(results).splitlines()]
    assert found == [
        "params.x,params.text,metrics.error",
        "-0.5,'-O3,0.25",
        ',"",nan',
        ',"say ""a, b""",-inf',
    ]
    assert written(results, "curves").splitlines()[:2] == [
        "trial,metric,step,value,seconds",
        "1,error,1,0.25,0.0",
    ]


def test_half_a_character_is_shown() -> None:
    assert "\\ud800" in written(results_of([{"x": "\ud800"}]))
