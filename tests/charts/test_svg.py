"""The SVG of every kind of figure: well formed, alone, inert, within its frame."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawings import HOSTILE, LONG, curves, figure_of, many, panel_of, samples
from tunebook.charts.figures import Axis, Bars, Figure, Line, Panel, Points, Rule
from tunebook.charts.svg import svg

SPACE = "{http://www.w3.org/2000/svg}"
ELEMENTS = {
    *("svg", "title", "desc", "defs", "g", "path", "use", "rect", "text", "clipPath", "pattern")
}
ATTRIBUTES = {
    *("viewBox", "width", "height", "style", "role", "class", "aria-labelledby", "id", "d", "x"),
    *("y", "href", "clip-path", "transform", "patternUnits", "font-family", "font-size"),
    *("font-weight", "text-anchor", "fill", "fill-opacity", "stroke", "stroke-width"),
    *("stroke-opacity", "stroke-linejoin", "stroke-linecap", "stroke-dasharray", "opacity"),
    *("pointer-events", "paint-order"),
}
FIGURES = samples()


def parsed(figure: Figure, width: float = 720) -> ElementTree.Element:
    return ElementTree.fromstring(svg(figure, width=width))


def found(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return list(root.iter(SPACE + tag))


def assert_inert(root: ElementTree.Element) -> None:
    """Only elements and attributes that we write, and references only to what is inside."""
    assert {element.tag.removeprefix(SPACE) for element in root.iter()} <= ELEMENTS
    assert {name for element in root.iter() for name in element.attrib} <= ATTRIBUTES
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in root.iter():
        for name, value in element.attrib.items():
            wanted = re.findall(r"url\(#(.*?)\)", value)
            wanted += [value.removeprefix("#")] if name == "href" else []
            wanted += value.split() if name == "aria-labelledby" else []
            assert set(wanted) <= set(ids)
            assert value.count("url(") == len(re.findall(r"url\(#", value))


@pytest.mark.parametrize("width", [320, 720, 1200])
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_well_formed_inert_and_within_its_frame(name: str, width: int) -> None:
    root = parsed(FIGURES[name], width)
    assert_inert(root)
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    assert wide == width
    for element in [*found(root, "use"), *found(root, "text")]:
        assert -1 <= float(element.attrib["x"]) <= wide + 1
        assert 0 <= float(element.attrib["y"]) <= high + 1
    for element in root.iter():
        assert float(element.get("font-size", "11")) >= 11
        for attribute in ("x", "y", "d", "width", "height"):
            assert not re.search(r"\.\d\d|nan|inf", element.get(attribute, ""))


def test_it_is_an_image_with_a_name_and_a_description() -> None:
    root = parsed(figure_of(panel_of(), note="Two trials are left out."))
    assert root.attrib["role"] == "img"
    title, desc = root.attrib["aria-labelledby"].split()
    texts = {element.get("id"): element.text for element in root}
    assert texts[title] == "A title"
    assert texts[desc] == "A sentence that says it. Two trials are left out."


def test_figures_on_one_page_share_no_id_and_a_figure_keeps_its_own() -> None:
    def ids(figure: Figure, width: float) -> set[str]:
        root = parsed(figure, width)
        return {element.attrib["id"] for element in root.iter() if element.get("id")}

    everything = [ids(figure, width) for figure in FIGURES.values() for width in (360, 720)]
    assert sum(map(len, everything)) == len(set.union(*everything))
    assert svg(curves()) == svg(curves())


def test_each_point_is_drawn_once_with_its_label() -> None:
    root = parsed(FIGURES["scatter"])
    panel = next(g for g in found(root, "g") if g.get("class") == "tb-panel")
    uses = found(panel, "use")
    assert len(uses) == 30 + 5 + 3
    labels = [use.findtext(SPACE + "title") for use in uses]
    assert labels[:30] == [f"trial {i}" for i in range(30)]


def test_a_point_at_infinity_is_on_the_edge() -> None:
    root = parsed(FIGURES["scatter"])
    crosses = [use for use in found(root, "use") if use.attrib["href"].endswith("px")]
    clip = found(found(root, "clipPath")[0], "rect")[0]
    top = float(clip.attrib["y"]) + 1
    assert [float(use.attrib["y"]) for use in crosses[1:]] == [pytest.approx(top, abs=0.2)] * 5


def test_a_thousand_points_cost_less_than_60_kilobytes() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.uniform(size=(2, 1000))
    assert len(svg(figure_of(panel_of(Points(x, y))))) < 60_000


def test_long_lines_are_thinned_and_the_description_says_so() -> None:
    steps = np.arange(100_000.0)
    spike = np.where(steps == 77_777, 5.0, np.sin(steps))
    drawn = svg(figure_of(panel_of(Line(steps, spike))))
    assert len(drawn) < 120_000
    left_out = re.search(r"([\d,]+) points of lines are not drawn; no peak is lost", drawn)
    assert left_out is not None
    assert 95_000 < int(left_out[1].replace(",", "")) < 100_000


def test_many_lines_together_stay_light() -> None:
    steps = np.arange(2000.0)
    lines = [Line(steps, np.sin(steps + i), 0, "trials", weight="faint") for i in range(300)]
    assert len(svg(figure_of(panel_of(*lines)))) < 400_000


def test_a_line_breaks_at_nan() -> None:
    line = Line(np.arange(5.0), np.array([1.0, 2.0, np.nan, 1.0, 2.0]), label="broken")
    root = parsed(figure_of(panel_of(line)))
    (path,) = [p for p in found(root, "path") if p.findtext(SPACE + "title") == "broken"]
    assert path.attrib["d"].count("M") == 2


def test_groups_differ_by_more_than_colour() -> None:
    x = np.arange(3.0)
    marks = [
        *(Points(x, x + g, g, f"points {g}") for g in range(8)),
        *(Line(x, x + g, g, f"line {g}") for g in range(6)),
        *(Bars(x, x + 1, x + g, x, g, f"bars {g}") for g in range(6)),
    ]
    root = parsed(figure_of(panel_of(*marks)))
    panel = next(g for g in found(root, "g") if g.get("class") == "tb-panel")
    defined = {e.get("id"): e for e in found(root, "defs")[0]}
    shapes = {defined[use.attrib["href"][1:]].attrib["d"] for use in found(panel, "use")}
    assert len(shapes) == 8
    dashes = {
        path.get("stroke-dasharray")
        for path in found(panel, "path")
        if (path.findtext(SPACE + "title") or "").startswith("line")
    }
    assert len(dashes) == 6
    fills = {
        g.attrib["fill"]
        for g in found(panel, "g")
        if (g.findtext(SPACE + "title") or "").startswith("bars")
    }
    assert len(fills) == 6
    hatches = {defined[fill[5:-1]][1].attrib["d"] for fill in fills if fill.startswith("url")}
    assert len(hatches) == 5


def test_one_group_of_lines_is_solid() -> None:
    x = np.arange(3.0)
    drawn = svg(figure_of(panel_of(Line(x, x, 4), Line(x, x + 1, 4))))
    assert "stroke-dasharray" not in drawn


def test_a_long_name_is_shortened_and_whole_in_its_tooltip() -> None:
    root = parsed(FIGURES["effects"])
    texts = [text for text in found(root, "text") if text.findtext(SPACE + "title") == LONG]
    assert texts
    shown = "".join(texts[0].itertext()).removeprefix(LONG)
    assert "…" in shown
    assert len(shown) < len(LONG)


def test_hostile_names_are_shown_as_text_without_controls() -> None:
    drawn = svg(FIGURES["hostile"])
    assert "<img" not in drawn
    assert "</script" not in drawn
    assert "\u202e" not in drawn
    assert "\x1b" not in drawn
    titles = {element.text for element in found(ElementTree.fromstring(drawn), "title")}
    assert any(title and "<img src=x onerror=alert(1)>" in title for title in titles)
    assert HOSTILE not in titles


@given(st.text(), st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_anywhere_is_inert(word: str, names: list[str]) -> None:
    axis = Axis(word, "category", categories=tuple(names))
    points = Points(np.zeros(1), np.zeros(1), 0, word, (word,))
    panel = Panel(axis, Axis(word), (points, Rule(0.0, "y", word)), word)
    assert_inert(parsed(Figure(word, word, word, (panel,), FIGURES["none"].table, word)))


numbers = st.lists(st.floats(), max_size=8).map(np.array)


@given(numbers, st.sampled_from(["linear", "log"]), st.sampled_from(["linear", "log"]))
def test_any_numbers_are_drawn_without_a_word(values: np.ndarray, across: str, up: str) -> None:
    axes = Axis("x", across), Axis("y", up)  # type: ignore[arg-type]
    marks = (
        Points(values, values[::-1]),
        Line(values, values, steps=True),
        Line(values, values[::-1]),
        Bars(values, values + 1, values, values[::-1]),
    )
    drawn = svg(figure_of(Panel(*axes, marks)))
    root = ElementTree.fromstring(drawn)
    assert not any(re.search("nan|inf", path.attrib["d"]) for path in found(root, "path"))


@pytest.mark.parametrize(
    ("panels", "width", "columns"),
    [(1, 720, 1), (2, 720, 2), (3, 720, 3), (4, 720, 2), (7, 720, 3), (3, 360, 1), (2, 460, 2)],
)
def test_panels_wrap_to_the_width(panels: int, width: int, columns: int) -> None:
    root = parsed(many(panels), width)
    lefts = {found(clip, "rect")[0].attrib["x"] for clip in found(root, "clipPath")}
    assert len(lefts) == columns
    assert len(found(root, "clipPath")) == panels


def test_the_legend_names_each_name_once() -> None:
    root = parsed(curves())
    entries = [g for g in found(root, "g") if g.get("class") == "tb-entry"]
    names = ["".join(found(entry, "text")[0].itertext()) for entry in entries]
    assert names == ["depth 2", "depth 3", "stairs", "fit"]
