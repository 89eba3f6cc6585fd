"""Marks as dots and characters: what a panel is drawn with in the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import ArrayLike

from tunebook.charts.figures import (
    Band,
    Bars,
    Intervals,
    Line,
    Mark,
    Points,
    Rule,
    Text,
    Tiles,
)
from tunebook.charts.labels import clean
from tunebook.charts.raster import Raster
from tunebook.charts.scales import Ruler
from tunebook.charts.thinning import kept
from tunebook.core.curves import Floats


@dataclass(frozen=True, slots=True)
class Characters:
    """What a drawing is made of."""

    points: str
    means: str
    shades: str
    levels: str
    cross: str
    upright: str
    dashed: str
    flat: str
    corner: str
    tick_below: str
    tick_left: str


RICH = Characters(
    points="●■▲◆▼+◀★",
    means="○□△◇▽⊕◁☆",
    shades="█▒░▓",
    levels=" ░▒▓█",
    cross="\N{MULTIPLICATION SIGN}",
    upright="│",
    dashed="┊",
    flat="─",
    corner="└",
    tick_below="┬",
    tick_left="┤",
)
PLAIN = Characters(
    points="o#^*v+<@",
    means="O%AXV&(Q",
    shades="#%=&",
    levels=" .:*#",
    cross="x",
    upright="|",
    dashed=":",
    flat="-",
    corner="+",
    tick_below="+",
    tick_left="+",
)


@dataclass(frozen=True, slots=True)
class Places:
    """Places from 0 to 1, from the left and from the top."""

    x: Ruler
    y: Ruler

    def across(self, values: ArrayLike) -> Floats:
        return np.atleast_1d(self.x.positions(values))

    def down(self, values: ArrayLike) -> Floats:
        places = np.atleast_1d(self.y.positions(values))
        return places if self.y.scale == "category" else 1 - places


def depth(mark: Mark) -> int:
    """Fills lie below lines, lines below points, points below words; rules fill what is left."""
    kinds = (Tiles, Bars, Band, Line, Intervals, Points, Text, Rule)
    return next(i for i, kind in enumerate(kinds) if isinstance(mark, kind))


def symbol_of(mark: Mark, use: Characters, several: bool) -> str:
    """The character of a mark, or nothing where it is drawn in dots."""
    match mark:
        case Points():
            if mark.crosses:
                return use.cross
            dots = mark.group == 0 and mark.weight != "strong" and not mark.hollow
            return "" if dots else use.points[mark.group % len(use.points)]
        case Intervals():
            return use.means[mark.group % len(use.means)]
        case Line():
            marked = several and mark.weight != "faint"
            return use.points[mark.group % len(use.points)] if marked else ""
        case Bars():
            return use.shades[mark.group % len(use.shades)] if mark.group else ""
        case Rule():
            if mark.along == "y":
                return use.flat
            return use.dashed if mark.dashed else use.upright
        case _:
            return ""


def draw(raster: Raster, mark: Mark, at: Places, use: Characters, several: bool) -> None:
    """Put one mark on the raster; `several` where lines are of several groups."""
    symbol = symbol_of(mark, use, several)
    match mark:
        case Points():
            x, y = at.across(mark.x), at.down(mark.y)
            if symbol:
                raster.put(x, y, symbol)
            else:
                raster.dot(np.clip(x, 0, 1), np.clip(y, 0, 1))
        case Line():
            _line(raster, mark, at, symbol)
        case Band():
            for side in (mark.low, mark.high):
                raster.dot(at.across(mark.x), at.down(side))
        case Intervals():
            _intervals(raster, mark, at, use, symbol)
        case Bars():
            _bars(raster, mark, at, symbol)
        case Tiles():
            _tiles(raster, mark, at, use)
        case Rule():
            _rule(raster, mark, at, symbol)
        case Text():
            _text(raster, mark, at)
        case _:
            assert_never(mark)


def _line(raster: Raster, mark: Line, at: Places, symbol: str) -> None:
    x, y = at.across(mark.x), at.down(mark.y)
    index = kept(x, y, 12 * raster.size[1])
    x, y = x[index], y[index]
    if mark.steps and len(x):
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    raster.line(x, y)
    if symbol:
        # The character of the group now and then along the line, each group at other columns.
        where = (np.arange(0, 1, 12 / raster.size[1]) + 0.03 * (mark.group % 8 + 1)) % 1.0
        height = _height_at(where, x, y)
        # Where a line is beyond the edge there is nothing to mark.
        raster.put(where, np.where((height >= 0) & (height <= 1), height, np.nan), symbol)


def _height_at(where: Floats, x: Floats, y: Floats) -> Floats:
    """Where a line passes; NaN beyond its ends and in its gaps."""
    known = np.isfinite(x)
    order = np.argsort(x[known], kind="stable")
    if not len(order):
        return np.full(len(where), np.nan)
    return np.interp(where, x[known][order], y[known][order], left=np.nan, right=np.nan)


def _rule(raster: Raster, mark: Rule, at: Places, symbol: str) -> None:
    place = float((at.across if mark.along == "x" else at.down)(mark.at)[0])
    if not 0 <= place <= 1:
        return
    rows, columns = raster.size
    along = np.zeros((rows, columns), dtype=np.bool_)
    if mark.along == "x":
        along[:, min(int(place * columns), columns - 1)] = True
    else:
        along[min(int(place * rows), rows - 1), :] = True
    raster.characters[along & raster.is_empty()] = symbol


def _intervals(raster: Raster, mark: Intervals, at: Places, use: Characters, symbol: str) -> None:
    sideways = at.y.scale == "category"
    x, y = at.across(mark.x), at.down(mark.y)
    low, high = ((at.across if sideways else at.down)(side) for side in (mark.low, mark.high))
    for i in range(len(x)):
        along = np.linspace(low[i], high[i], 2 * max(raster.size)).clip(0, 1)
        if sideways:
            raster.put(along, np.full(len(along), y[i]), use.flat)
        else:
            raster.put(np.full(len(along), x[i]), along, use.upright)
    raster.put(x, y, symbol)


def _bars(raster: Raster, mark: Bars, at: Places, symbol: str) -> None:
    rows, columns = raster.size if symbol else raster.dots.shape
    left, right = at.across(mark.left), at.across(mark.right)
    top, base = at.down(mark.top), at.down(mark.base)
    middle_x, middle_y = (np.arange(columns) + 0.5) / columns, (np.arange(rows) + 0.5) / rows
    for i in range(len(left)):
        within = (middle_x >= left[i]) & (middle_x < max(right[i], left[i] + 1 / columns))
        high, low = min(top[i], base[i]), max(top[i], base[i])
        filled = np.ix_((middle_y >= high) & (middle_y <= low), within)
        if symbol:
            raster.characters[filled] = symbol
        else:
            raster.dots[filled] = True


def _tiles(raster: Raster, mark: Tiles, at: Places, use: Characters) -> None:
    rows, columns = raster.size
    down = at.y.categories or tuple("" for _ in range(mark.values.shape[0]))
    for row in range(rows):
        for column in range(columns):
            i = row * len(down) // rows
            value = mark.values[i, column * mark.values.shape[1] // columns]
            level = min(int(np.nan_to_num(value) * len(use.levels)), len(use.levels) - 1)
            raster.characters[row, column] = use.levels[max(level, 0)]


def _text(raster: Raster, mark: Text, at: Places) -> None:
    x, y = at.across(mark.x)[0], at.down(mark.y)[0]
    if np.isnan(x) or np.isnan(y):
        return
    rows, columns = raster.size
    words = clean(mark.text)
    shift = {"start": 0, "middle": len(words) // 2, "end": len(words)}[mark.anchor]
    start = min(max(int(np.clip(x, 0, 1) * columns) - shift, 0), max(columns - len(words), 0))
    raster.write(min(int(np.clip(y, 0, 1) * rows), rows - 1), start, words)
