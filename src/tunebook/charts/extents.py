"""The rulers of a panel: which values its marks bring to each axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import numpy as np
from numpy.typing import ArrayLike

from tunebook.charts.figures import (
    Band,
    Bars,
    Intervals,
    Line,
    Mark,
    Panel,
    Points,
    Rule,
    Text,
    Tiles,
)
from tunebook.charts.scales import Ruler, ruler


def rulers(panel: Panel) -> tuple[Ruler, Ruler]:
    """The x and the y ruler, wide enough for every mark; bars and tiles touch the ends."""
    sideways = panel.y.scale == "category"
    return (
        ruler(panel.x, _free(panel, "x", sideways), _firm(panel, "x")),
        ruler(panel.y, _free(panel, "y", sideways), _firm(panel, "y")),
    )


def _free(panel: Panel, side: str, sideways: bool) -> list[ArrayLike]:
    return [values for mark in panel.marks for values in _of_mark(mark, side, sideways)]


def _of_mark(mark: Mark, side: str, sideways: bool) -> Iterator[ArrayLike]:
    match mark:
        case Points() | Line() | Text():
            yield mark.x if side == "x" else mark.y
        case Band():
            yield from (mark.x,) if side == "x" else (mark.low, mark.high)
        case Intervals():
            yield mark.x if side == "x" else mark.y
            if side == ("x" if sideways else "y"):
                yield from (mark.low, mark.high)
        case Rule():
            if mark.along == side:
                yield mark.at
        case Bars():
            if side == "y":
                yield mark.top
        case Tiles():
            pass
        case _:
            assert_never(mark)


def _firm(panel: Panel, side: str) -> list[ArrayLike]:
    firm: list[ArrayLike] = []
    for mark in panel.marks:
        if isinstance(mark, Bars):
            firm += [mark.left, mark.right] if side == "x" else [mark.base]
        elif isinstance(mark, Tiles):
            rows, columns = np.shape(mark.values)
            firm.append([-0.5, (columns if side == "x" else rows) - 0.5])
    return firm
