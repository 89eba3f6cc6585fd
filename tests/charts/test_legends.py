"""Legends: one entry a name, in rows that fit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from drawings import curves, figure_of, panel_of, scatter
from tunebook.charts.figures import Band, Line, Points, Rule
from tunebook.charts.labels import width_of
from tunebook.charts.legends import SIZE, named, placed_legend

X = np.arange(2.0)


def test_marks_of_one_name_share_an_entry_across_panels() -> None:
    (first, *_), _ = placed_legend(curves(), 720)
    assert first.name == "depth 2"
    assert [type(mark) for mark in first.marks] == [Band, Line]


def test_what_has_no_name_has_no_entry() -> None:
    assert named((panel_of(Points(X, X), Line(X, X, name=" ")),)) == {}
    assert placed_legend(figure_of(panel_of(Points(X, X))), 720) == ((), 0.0)


def test_crosses_and_points_of_one_name_are_both_shown() -> None:
    marks = (Points(X, X, 0, "trials"), Points(X, X, 0, "trials", crosses=True))
    assert named((panel_of(*marks),))["trials"] == marks


def test_names_are_in_the_order_of_their_groups_and_rules_come_last() -> None:
    marks = (Rule(0.0, "x", "edge"), Points(X, X, 2, "c"), Line(X, X, 0, "a"), Points(X, X, 1, "b"))
    assert list(named((panel_of(*marks),))) == ["a", "b", "c", "edge"]


def test_a_swatch_of_points_alone_is_narrow() -> None:
    entries, _ = placed_legend(scatter(), 720)
    widths = {entry.name: entry.swatch for entry in entries}
    assert widths["complete"] < widths["baseline"]


@given(st.lists(st.text(min_size=1, max_size=80), max_size=12), st.integers(280, 1200))
def test_entries_lie_within_the_width_and_never_on_one_another(
    names: list[str], width: int
) -> None:
    figure = figure_of(panel_of(*(Rule(0.0, "x", name) for name in names)))
    entries, height = placed_legend(figure, width)
    ends = [entry.left + entry.swatch + 6 + width_of(entry.text, SIZE) for entry in entries]
    assert all(end <= width for end in ends)
    assert all(entry.middle < height for entry in entries)
    for (one, end), other in zip(zip(entries, ends, strict=True), entries[1:], strict=False):
        assert other.middle > one.middle or other.left > end
