"""Frames: titles, axes and the texts at their ticks."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np

from drawings import LONG, figure_of, panel_of
from tunebook.charts.figures import Axis, Panel, Points
from tunebook.charts.frames import frame_svg
from tunebook.charts.layout import layout


def texts(panel: Panel, width: int = 720) -> list[str]:
    (placed,) = layout(figure_of(panel), width).panels
    root = ElementTree.fromstring(f"<a>{frame_svg(placed)}</a>")
    return [(text.text or "") or (text[0].tail or "") for text in root.iter("text")]


def test_title_labels_and_ticks_are_written() -> None:
    panel = panel_of(Points(np.arange(5.0), np.arange(5.0)))
    shown = texts(replace(panel, title="MNIST-1D"))
    assert shown[:3] == ["validation error", "MNIST-1D", "learning rate"]
    assert shown.count("0") == 2


def test_an_axis_without_a_label_has_no_empty_text() -> None:
    assert "" not in texts(panel_of(x=Axis(""), y=Axis(" ")))


def test_names_too_many_for_their_room_are_every_few() -> None:
    axis = Axis("", "category", categories=tuple(f"{LONG} {i}" for i in range(200)))
    shown = [text for text in texts(panel_of(x=axis, y=Axis(""))) if "…" in text]
    assert 20 < len(shown) < 100


def test_numbers_are_never_shortened() -> None:
    panel = panel_of(Points(np.array([1e-7, 2e-7]), np.array([-1234.0, 1234.5])))
    assert not [text for text in texts(panel, 300) if "…" in text]


def test_titles_side_by_side_are_level() -> None:
    bare, labelled = Panel(Axis("x"), Axis(""), (), "one"), Panel(Axis("x"), Axis("y"), (), "two")
    heights = set()
    for placed in layout(figure_of(bare, labelled), 720).panels:
        root = ElementTree.fromstring(f"<a>{frame_svg(placed)}</a>")
        heights |= {t.attrib["y"] for t in root.iter("text") if t.text in ("one", "two")}
    assert len(heights) == 1
