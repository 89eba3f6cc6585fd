"""Attributes of marks."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.charts.figures import Line, Rule
from tunebook.charts.paint import (
    Style,
    bar_paint,
    line_paint,
    number,
    point_paint,
    rule_paint,
    symbol_id,
    titled,
)

ALONE = Style("f", line_groups=False, bar_groups=False)
TOGETHER = Style("f", line_groups=True, bar_groups=True)
LINE = Line(np.arange(2.0), np.arange(2.0), group=1)


def test_numbers_are_short() -> None:
    assert [number(v) for v in (0.0, -0.01, 10.0, 1234.56, -3.25)] == [
        *("0", "0", "10", "1234.6", "-3.2")
    ]


def test_a_tooltip_is_escaped_and_left_out_where_it_is_empty() -> None:
    assert titled("a<b") == "<title>a&lt;b</title>"
    assert titled(" ") == ""


def test_crosses_have_one_shape_and_groups_their_own() -> None:
    assert symbol_id(ALONE, 0, "plain", True) == symbol_id(ALONE, 5, "plain", True)
    assert symbol_id(ALONE, 0, "plain", False) != symbol_id(ALONE, 1, "plain", False)
    assert symbol_id(ALONE, 0, "plain", False) != symbol_id(ALONE, 0, "strong", False)


@pytest.mark.parametrize(("hollow", "crosses"), [(True, False), (False, True)])
def test_what_is_not_filled_can_still_be_pointed_at(hollow: bool, crosses: bool) -> None:
    paint = point_paint(0, "plain", hollow, crosses)
    assert 'fill="none"' in paint
    assert 'pointer-events="all"' in paint


def test_dashes_and_hatches_come_with_several_groups() -> None:
    assert "dasharray" not in line_paint(LINE, ALONE)
    assert "dasharray" in line_paint(LINE, TOGETHER)
    assert "url(#fh1)" in bar_paint(1, TOGETHER)
    assert "url" not in bar_paint(1, ALONE)
    assert "url" not in bar_paint(0, TOGETHER)


def test_a_rule_has_the_colour_of_the_text() -> None:
    assert 'stroke="currentColor"' in rule_paint(Rule(0.0, "x"), ALONE)
    assert "dasharray" not in rule_paint(Rule(0.0, "x", dashed=False), ALONE)
