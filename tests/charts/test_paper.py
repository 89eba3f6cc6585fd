"""matplotlib draws every figure without a warning, and what it draws is what the figure says."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from xml.etree import ElementTree

from drawings import samples
from tunebook.charts.paper import drawn

FIGURES = samples()


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn(name: str) -> None:
    content = drawn(FIGURES[name], "svg")
    assert ElementTree.fromstring(content).tag.endswith("svg")


def words(name: str) -> str:
    return " ".join(ElementTree.fromstring(drawn(FIGURES[name], "svg")).itertext())


def test_ticks_and_names_are_those_of_the_figure() -> None:
    shown = words("scatter")
    for word in ("1e-4", "0.001", "learning rate", "infeasible", "baseline", "A title"):
        assert word in shown


def test_marks_of_one_name_share_an_entry() -> None:
    assert words("curves").count("depth 2") == 1


def test_a_dollar_in_a_name_begins_no_formula() -> None:
    assert "$" in words("hostile")
