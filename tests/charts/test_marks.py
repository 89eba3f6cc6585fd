"""Marks in pixels."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tunebook.charts.figures import Bars, Intervals, Line, Mark, Points, Rule, Text, Tiles
from tunebook.charts.layout import Plot
from tunebook.charts.marks import line_path, mark_svg
from tunebook.charts.paint import Style
from tunebook.charts.scales import Ruler

STYLE = Style("f", line_groups=False, bar_groups=False)
TEN = Ruler("linear", 0.0, 10.0)
PLOT = Plot(0.0, 0.0, 100.0, 100.0, TEN, TEN)
TWO = Ruler("category", -0.5, 1.5, ("a", "b"))
NAMES = Plot(0.0, 0.0, 100.0, 100.0, TEN, TWO)
SQUARE = Plot(0.0, 0.0, 100.0, 100.0, TWO, TWO)


def drawn(mark: Mark, plot: Plot = PLOT) -> ElementTree.Element:
    return ElementTree.fromstring(f"<a>{mark_svg(mark, plot, STYLE, 'clip')}</a>")


def path_of(mark: Mark, plot: Plot = PLOT) -> str:
    return next(drawn(mark, plot).iter("path")).attrib["d"]


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_lines_go_from_place_to_place() -> None:
    assert path_of(Line(array(0, 5, 10), array(0, 10, 5))) == "M0 100 50 0 100 50"


def test_stairs_hold_a_value_until_the_next() -> None:
    assert path_of(Line(array(0, 5, 10), array(0, 10, 10), steps=True)) == "M0 100H50V0H100"


@pytest.mark.parametrize("steps", [False, True])
def test_a_point_between_gaps_is_a_dot(steps: bool) -> None:
    assert line_path(array(1, 2, 3), array(np.nan, 2, np.nan), steps) == "M2 2h0"


def test_places_that_look_alike_are_written_once() -> None:
    assert line_path(array(0, 0.01, 0.02, 5), array(0, 0.01, 0.02, 5)) == "M0 0 5 5"


def test_a_line_to_infinity_leaves_the_panel() -> None:
    assert path_of(Line(array(0, 5), array(5, np.inf))) == "M0 50 50 -5000"


def test_points_beyond_the_ends_are_on_the_edge_and_nan_is_not_drawn() -> None:
    uses = list(drawn(Points(array(1, 2, 3), array(99, -np.inf, np.nan))).iter("use"))
    assert [(use.attrib["x"], use.attrib["y"]) for use in uses] == [("10", "0"), ("20", "100")]


def test_bars_have_corners_and_tooltips_of_their_own() -> None:
    root = drawn(Bars(array(0, 5), array(5, 10), array(10, 0), array(0, 0), labels=("first",)))
    (bar,) = root.iter("path")
    assert bar.attrib["d"] == "M0 0h50V100h-50z"
    assert bar.findtext("title") == "first"


def test_a_bar_without_width_can_still_be_seen() -> None:
    assert "h1V" in path_of(Bars(array(5), array(5), array(10), array(0)))


def test_whiskers_stand_upright_and_lie_beside_names() -> None:
    mark = Intervals(array(5), array(1), array(0), array(10))
    assert path_of(mark).startswith("M50 100V0")
    assert path_of(mark, NAMES).startswith("M0 75H100")


def test_tiles_are_read_from_the_top_and_deepen_with_their_value() -> None:
    root = drawn(Tiles(array(0, 1, np.nan, 0.5).reshape(2, 2), (("a", "b"), ("c", "d"))), SQUARE)
    cells = list(root.iter("rect"))
    assert float(cells[0].attrib["y"]) < float(cells[2].attrib["y"])
    assert float(cells[0].attrib["fill-opacity"]) < float(cells[1].attrib["fill-opacity"])
    assert cells[2].attrib["fill"] == "none"
    assert [text.text for text in root.iter("text")] == ["a", "b", "c", "d"]


def test_a_label_too_wide_for_its_tile_is_a_tooltip_only() -> None:
    root = drawn(Tiles(np.zeros((1, 1)), (("x" * 80,),)), SQUARE)
    assert not list(root.iter("text"))
    assert next(root.iter("title")).text == "x" * 80


def test_rules_cross_the_panel_where_they_are_within_it() -> None:
    assert path_of(Rule(5.0, "x")) == "M50 0V100"
    assert path_of(Rule(5.0, "y")) == "M0 50H100"
    assert not list(drawn(Rule(50.0, "y")))


def test_texts_stay_in_the_panel() -> None:
    (text,) = drawn(Text(99.0, 99.0, "far", "end"))
    assert (text.attrib["x"], text.attrib["y"]) == ("100", "10")
    assert text.attrib["text-anchor"] == "end"
    assert not list(drawn(Text(np.nan, 0.0, "nowhere")))


def test_coordinates_are_finite_for_zero_on_a_log_axis() -> None:
    plot = Plot(0.0, 0.0, 100.0, 100.0, TEN, Ruler("log", 1.0, 100.0))
    bars = Bars(array(0), array(5), array(10), array(0))
    assert not re.search("nan|inf", path_of(bars, plot))
