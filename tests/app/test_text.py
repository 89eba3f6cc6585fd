"""Small pieces of text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import texts
from tunebook.app import text


@given(texts)
def test_lines_keep_their_number_and_hide_nothing_in_them(given: str) -> None:
    shown = text.lines(given)
    assert shown.count("\n") == given.count("\n")
    assert all(line.isprintable() for line in shown.split("\n"))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.9, "1 min 0 s"),
        (3599.9, "1 h 0 min"),
        (7300, "2 h 1 min"),
        (2 * 86400 + 3 * 3600, "2 d 3 h"),
        (math.inf, "-"),
        (math.nan, "-"),
        (None, "-"),
    ],
)
def test_a_duration_has_two_units(seconds: float | None, shown: str) -> None:
    assert text.duration(seconds) == shown


@given(st.floats(0, 1e9))
def test_no_duration_reaches_the_next_unit(seconds: float) -> None:
    shown = text.duration(seconds).split()
    assert "60" not in shown[2:]
    assert shown[0] != "60"
    assert not (shown[1:2] == ["h"] and float(shown[0]) >= 48)


def test_what_is_short_stays_as_it_is() -> None:
    assert text.shorten("x" * 120) == "x" * 120
    assert text.shorten("x" * 121) == "x" * 117 + "..."
