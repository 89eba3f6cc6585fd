"""Panels as text: within their width, with the ticks and names of the panel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawings import HOSTILE, curves, effects, panel_of, samples, scatter
from tunebook.charts.figures import Axis, Line, Points
from tunebook.charts.raster import columns_of
from tunebook.charts.textual import text

PANELS = {
    f"{name} {index}": panel
    for name, figure in samples().items()
    for index, panel in enumerate(figure.panels)
}


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("width", [50, 76, 120])
@pytest.mark.parametrize("name", PANELS)
def test_every_panel_fits_its_width_and_drives_no_terminal(
    name: str, width: int, plain: bool
) -> None:
    shown = text(PANELS[name], width, plain=plain)
    assert all(columns_of(line) <= width for line in shown.split("\n"))
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_small_panel_is_drawn_as_expected() -> None:
    x = np.linspace(0, 10, 11)
    panel = panel_of(Line(x, x, 0, "loss"), Points(x[5:6], x[2:3], 1, "best"))
    assert text(panel, 32, 5, plain=True).split("\n") == [
        "validation error",
        "10 +                      ...''",
        "   |                 ...''",
        "   |           ...:''",
        "   |      ..'''   #",
        " 0 + ..'''",
        "   +-+------------------------+-",
        "     0                       10",
        "           learning rate",
        "  : loss   # best",
    ]


@pytest.mark.parametrize("name", ["scatter 0", "curves 0", "curves 1", "bars 0", "many 3"])
def test_plain_text_is_ascii(name: str) -> None:
    assert text(PANELS[name], plain=True).isascii()


def test_the_plot_is_as_high_as_asked_and_a_name_takes_a_row() -> None:
    def rows(shown: str) -> int:
        return sum(line.count("│") + line.count("┤") > 0 for line in shown.split("\n")[:-1])

    assert rows(text(curves().panels[0], height=14)) == 14
    assert rows(text(effects().panels[0], height=14)) == 3


def test_ticks_labels_and_legend_are_there() -> None:
    shown = text(scatter().panels[0])
    for word in ("1e-4", "0.001", "learning rate", "validation error", "infeasible", "baseline"):
        assert word in shown
    assert "\N{MULTIPLICATION SIGN} infeasible" in shown


def test_hostile_names_are_only_words() -> None:
    axis = Axis(HOSTILE, "category", categories=(HOSTILE,))
    shown = text(panel_of(Points(np.zeros(1), np.zeros(1), 1, HOSTILE), y=axis))
    assert "<img src=x" in shown
    assert "\x1b" not in shown


@given(
    st.lists(st.floats(), max_size=8).map(np.array),
    st.sampled_from(["linear", "log"]),
    st.integers(20, 100),
    st.integers(1, 20),
)
def test_any_numbers_are_drawn_without_a_word(
    values: np.ndarray, scale: str, width: int, height: int
) -> None:
    y = Axis("y", scale)  # type: ignore[arg-type]
    marks = (Points(values, values[::-1]), Line(values, values, 1, "a"), Line(values, values, 2))
    assert text(panel_of(*marks, y=y), width, height)


def test_the_legend_shows_the_marks_as_they_are_drawn() -> None:
    x = np.linspace(0, 10, 11)
    points, line = Points(x, x, 0, "trials"), Line(x, x, 0, "loss")
    assert text(panel_of(points, line), plain=True).endswith("  . trials   : loss")
    assert text(panel_of(points, line)).endswith("  ⠂ trials   ⠶ loss")


def test_crosses_are_always_in_the_legend() -> None:
    x = np.linspace(0, 10, 11)
    points = Points(x, x, 0, "adam"), Points(x, x, 1, "sgd")
    unnamed, named = Points(x, x, 0, crosses=True), Points(x, x, 7, "failed", crosses=True)
    assert text(panel_of(*points, unnamed), plain=True).endswith("# sgd   x infeasible")
    assert text(panel_of(*points, named), plain=True).endswith("# sgd   x failed")
    assert "x " not in text(panel_of(*points), plain=True).split("\n")[-1]
