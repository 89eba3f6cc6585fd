"""Layouts: plots that do not touch, with room for what is around them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from drawings import LONG, figure_of, many, panel_of, samples
from tunebook.charts.figures import Axis, Line, Points
from tunebook.charts.layout import Placed, layout

FIGURES = samples()


@pytest.mark.parametrize("width", [300, 360, 720, 1400])
@pytest.mark.parametrize("name", FIGURES)
def test_plots_lie_within_the_figure_and_apart(name: str, width: int) -> None:
    made = layout(FIGURES[name], width)
    for placed in made.panels:
        plot = placed.plot
        assert plot.left >= 20
        assert plot.right <= width
        assert plot.width >= 0.4 * (width / 3)
        assert plot.height >= 60
        assert plot.bottom + placed.foot <= made.height
    for one, other in itertools.combinations(made.panels, 2):
        assert apart(one, other)


def apart(one: Placed, other: Placed) -> bool:
    a, b = one.plot, other.plot
    below = b.top >= a.bottom + one.foot or a.top >= b.bottom + other.foot
    return below or b.left >= a.right or a.left >= b.right


def test_panels_below_one_another_are_aligned() -> None:
    made = layout(many(6), 720)
    assert made.panels[0].plot.left == made.panels[3].plot.left
    assert made.panels[0].plot.top == made.panels[2].plot.top


def test_a_plot_grows_with_the_names_beside_it() -> None:
    def height(number: int) -> float:
        names = Axis("", "category", categories=tuple(map(str, range(number))))
        return layout(figure_of(panel_of(y=names)), 720).panels[0].plot.height

    assert height(40) > 2 * height(15) > 2 * height(3)


def test_names_below_are_turned_only_where_they_must_be() -> None:
    def slant(names: tuple[str, ...], width: int = 720) -> float:
        axis = Axis("", "category", categories=names)
        return layout(figure_of(panel_of(x=axis)), width).panels[0].slant

    assert slant(("adam", "sgd")) == 0
    assert 0 < slant((LONG,) * 6) < slant((LONG,) * 24, 360) < 90


def test_pixels_fall_as_values_rise_but_names_are_read_from_the_top() -> None:
    rising = layout(figure_of(panel_of(Points(np.arange(3.0), np.arange(3.0)))), 720).panels[0].plot
    assert np.all(np.diff(rising.down(np.arange(3.0))) < 0)
    names = Axis("", "category", categories=("a", "b", "c"))
    named = layout(figure_of(panel_of(y=names)), 720).panels[0].plot
    assert np.all(np.diff(named.down(np.arange(3.0))) > 0)


def test_what_is_infinitely_far_has_a_pixel_outside() -> None:
    plot = layout(figure_of(panel_of(Line(np.arange(2.0), np.arange(2.0)))), 720).panels[0].plot
    below, above, nowhere = plot.down([-np.inf, np.inf, np.nan])
    assert below > plot.bottom
    assert above < plot.top
    assert np.isnan(nowhere)
