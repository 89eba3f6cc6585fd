"""Grids of dots and characters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.charts.raster import Raster, columns_of, fitted


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_dots_are_finer_than_characters() -> None:
    raster = Raster.blank(1, 2, plain=False)
    raster.dot(array(0.0, 1.0, 2.0, np.nan), array(0.0, 1.0, 0.5, 0.5))
    assert raster.lines() == ["\u2801\u2880"]
    raster = Raster.blank(1, 3, plain=True)
    raster.dot(array(0.0, 0.5, 0.5, 1.0), array(0.0, 0.0, 1.0, 1.0))
    assert raster.lines() == ["':."]


def test_a_line_is_joined_and_breaks_at_nan() -> None:
    raster = Raster.blank(1, 6, plain=True)
    raster.line(array(0.0, 1.0), array(1.0, 1.0))
    assert raster.lines() == ["......"]
    raster = Raster.blank(1, 6, plain=True)
    raster.line(array(0.0, 0.5, 1.0), array(1.0, np.nan, 1.0))
    assert raster.lines() == [".    ."]


def test_a_line_to_infinity_leaves_the_grid() -> None:
    raster = Raster.blank(3, 3, plain=True)
    raster.line(array(0.5, 0.5), array(0.9, -np.inf))
    assert raster.lines() == [" : ", " : ", " : "]


def test_characters_lie_over_dots_and_on_the_edge() -> None:
    raster = Raster.blank(2, 3, plain=True)
    raster.line(array(0.0, 1.0), array(1.0, 1.0))
    raster.put(array(0.5, 0.5, np.nan), array(1.0, -np.inf, 0.0), "x")
    assert raster.lines() == [" x ", ".x."]


def test_words_end_at_the_edge() -> None:
    raster = Raster.blank(1, 4, plain=True)
    raster.write(0, 2, "long")
    assert raster.lines() == ["  lo"]


@given(st.text(max_size=30), st.integers(1, 20))
def test_fitted_texts_fit(text: str, columns: int) -> None:
    made = fitted(text, columns)
    assert columns_of(made) <= columns
    if columns_of(text) <= columns:
        assert made == text


@pytest.mark.parametrize(("text", "columns"), [("e\u0301", 1), ("\u200b", 0), ("損", 2)])
def test_columns_are_those_of_a_terminal(text: str, columns: int) -> None:
    assert columns_of(text) == columns
