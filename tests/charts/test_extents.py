"""Which values of a mark an axis must hold."""

from __future__ import annotations

import numpy as np
import pytest

from drawings import panel_of
from tunebook.charts.extents import rulers
from tunebook.charts.figures import Axis, Band, Bars, Intervals, Mark, Rule, Text, Tiles

TWO = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("mark", "x", "y"),
    [
        (Band(TWO, TWO - 5, TWO + 5), (1, 2), (-4, 7)),
        (Intervals(TWO, TWO, TWO - 5, TWO + 5), (1, 2), (-4, 7)),
        (Rule(9.0, "x"), (9, 9), (0, 1)),
        (Rule(9.0, "y"), (0, 1), (9, 9)),
        (Text(3.0, 4.0, "here"), (3, 3), (4, 4)),
    ],
)
def test_the_axes_hold_the_whole_mark(
    mark: Mark, x: tuple[float, float], y: tuple[float, float]
) -> None:
    for made, (low, high) in zip(rulers(panel_of(mark)), (x, y), strict=True):
        assert made.low < low <= high < made.high


def test_whiskers_lie_along_x_beside_names() -> None:
    names = Axis("", "category", categories=("a", "b"))
    mark = Intervals(TWO, np.arange(2.0), TWO - 5, TWO + 5)
    x, y = rulers(panel_of(mark, y=names))
    assert x.low < -4
    assert x.high > 7
    assert (y.low, y.high) == (-0.5, 1.5)


def test_bars_and_tiles_touch_the_ends() -> None:
    x, y = rulers(panel_of(Bars(TWO, TWO + 1, TWO, np.zeros(2))))
    assert (x.low, x.high, y.low) == (1.0, 3.0, 0.0)
    assert y.high > 2.0
    x, y = rulers(panel_of(Tiles(np.zeros((2, 3)), ())))
    assert (x.low, x.high, y.low, y.high) == (-0.5, 2.5, -0.5, 1.5)
