"""Marks on a raster of characters."""

from __future__ import annotations

import numpy as np

from tunebook.charts.figures import Band, Bars, Intervals, Line, Mark, Points, Rule, Text, Tiles
from tunebook.charts.raster import Raster
from tunebook.charts.scales import Ruler
from tunebook.charts.strokes import PLAIN, RICH, Places, depth, draw, symbol_of

AT = Places(Ruler("linear", 0.0, 4.0), Ruler("linear", 0.0, 4.0))
NAMES = Places(Ruler("linear", 0.0, 4.0), Ruler("category", -0.5, 3.5, tuple("abcd")))


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def drawn(mark: Mark, at: Places = AT, several: bool = False) -> list[str]:
    raster = Raster.blank(4, 4, plain=True)
    draw(raster, mark, at, PLAIN, several)
    return raster.lines()


def test_points_of_other_groups_and_crosses_have_characters() -> None:
    assert drawn(Points(array(0), array(0))) == ["    ", "    ", "    ", ".   "]
    assert drawn(Points(array(0), array(0), 1)) == ["    ", "    ", "    ", "#   "]
    assert drawn(Points(array(4), array(np.inf), 1, crosses=True))[0] == "   x"


def test_lines_of_several_groups_bear_their_character() -> None:
    x = np.linspace(0, 4, 9)
    assert drawn(Line(x, x * 0)) == ["    ", "    ", "    ", "...."]
    assert "#" in drawn(Line(x, x * 0, 1), several=True)[3]
    assert "#" not in drawn(Line(x, x * 0, 1, weight="faint"), several=True)[3]


def test_stairs_hold_a_value_until_the_next() -> None:
    line = Line(array(0, 2.5, 4), array(0, 4, 4), steps=True)
    assert drawn(line) == ["  :'", "  : ", "  : ", "..: "]


def test_bars_stand_on_their_base() -> None:
    assert drawn(Bars(array(0, 2), array(1, 4), array(4, 2), array(0, 0))) == [
        *(":   ", ":   ", ": ::", ": ::")
    ]
    assert drawn(Bars(array(1), array(3), array(2), array(0), 1))[2:] == [" %% ", " %% "]


def test_bars_of_a_timeline_lie_in_their_row() -> None:
    bars = Bars(array(0, 2), array(2, 4), array(0.4, 2.4), array(-0.4, 1.6), 1)
    assert drawn(bars, NAMES) == ["%%  ", "    ", "  %%", "    "]


def test_whiskers_stand_upright_and_lie_beside_names() -> None:
    mark = Intervals(array(2), array(1.4), array(0), array(4))
    assert drawn(mark) == ["  | ", "  | ", "  O ", "  | "]
    assert drawn(mark, NAMES)[1] == "--O-"


def test_tiles_deepen_with_their_value() -> None:
    values = array(0, 1, 0.5, np.nan).reshape(1, 4).repeat(4, axis=0)
    assert drawn(Tiles(values, ()), NAMES)[0] == " #: "


def test_rules_cross_the_panel_where_they_are_within_it() -> None:
    assert drawn(Rule(2.0, "x")) == ["  : "] * 4
    assert drawn(Rule(2.0, "x", dashed=False)) == ["  | "] * 4
    assert drawn(Rule(2.0, "y"))[2] == "----"
    assert drawn(Rule(9.0, "y")) == ["    "] * 4


def test_rules_leave_what_was_drawn_before() -> None:
    raster = Raster.blank(4, 4, plain=True)
    marks = (Rule(2.0, "x"), Points(array(2), array(0)), Points(array(2), array(4), 1))
    for mark in sorted(marks, key=depth):
        draw(raster, mark, AT, PLAIN, several=False)
    assert raster.lines() == ["  # ", "  : ", "  : ", "  . "]


def test_a_line_beyond_the_edge_bears_no_character() -> None:
    x = np.linspace(0, 4, 9)
    assert "#" not in "".join(drawn(Line(x, x * 0 + 9, 1), several=True))


def test_bands_show_their_edges() -> None:
    x = np.linspace(0, 4, 4)
    assert drawn(Band(x, x * 0, x * 0 + 4)) == ["''''", "    ", "    ", "...."]


def test_words_are_written_at_their_place() -> None:
    assert drawn(Text(4.0, 4.0, "ab", "end"))[0] == "  ab"
    assert drawn(Text(np.nan, 4.0, "ab")) == ["    "] * 4


def test_fills_lie_below_lines_and_lines_below_points() -> None:
    x = array(0, 1)
    marks = [Points(x, x), Line(x, x), Bars(x, x, x, x)]
    assert [type(mark) for mark in sorted(marks, key=depth)] == [Bars, Line, Points]


def test_groups_have_characters_of_their_own() -> None:
    x = array(0)
    for use in (RICH, PLAIN):
        symbols = {symbol_of(Points(x, x, group), use, False) for group in range(8)}
        assert len(symbols) == 8
