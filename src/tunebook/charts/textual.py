"""A panel as text, for the terminal: the same marks, axes and ticks in a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import ArrayLike

from tunebook.charts.extents import rulers
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
from tunebook.charts.labels import clean
from tunebook.charts.legends import named
from tunebook.charts.raster import Raster, columns_of, fitted
from tunebook.charts.scales import Ruler, Tick
from tunebook.charts.thinning import kept
from tunebook.core.curves import Floats

_LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class Characters:
    """What a drawing is made of."""

    points: str
    shades: str
    levels: str
    cross: str
    upright: str
    flat: str
    corner: str
    tick_below: str
    tick_left: str


_RICH = Characters("●■▲◆▼+◀★", "█▒░▓", " ░▒▓█", "\N{MULTIPLICATION SIGN}", "│", "─", "└", "┬", "┤")
_PLAIN = Characters("o#^*v+<@", "#%=&", " .:*#", "x", "|", "-", "+", "+", "+")


def text(panel: Panel, width: int = 76, height: int = 10, *, plain: bool = False) -> str:
    """The panel in lines of at most `width` columns, its plot `height` rows high.

    A category axis has a row for each name instead. `plain` uses ASCII alone (names stay what
    they are). Lines and the points of the first group are fine dots; other groups have characters
    of their own, named below.
    """
    use = _PLAIN if plain else _RICH
    x, y = rulers(panel)
    rows = max(len(y.categories), 1) if y.scale == "category" else max(height, 3)
    y_ticks = y.ticks(max(2, rows // 2))
    margin = max((columns_of(_name(tick)) for tick in y_ticks), default=0) + 1
    raster = Raster.blank(rows, max(width - margin - 1, 8), plain)
    several = len({mark.group for mark in panel.marks if isinstance(mark, Line)}) > 1
    for mark in sorted(panel.marks, key=_depth):
        _draw(raster, mark, _Places(x, y), use, several)
    above = " - ".join(filter(None, map(clean, (panel.title, panel.y.label))))
    lines = [fitted(above, width)] if above else []
    lines += _beside(raster, y, y_ticks, margin, use)
    lines += _below(raster, x, margin, use)
    if label := clean(panel.x.label):
        lines.append(fitted(label, width).center(width - margin).rjust(width))
    lines += _legend(panel, width, use, several)
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True, slots=True)
class _Places:
    """Places from 0 to 1, from the left and from the top."""

    x: Ruler
    y: Ruler

    def across(self, values: ArrayLike) -> Floats:
        return np.atleast_1d(self.x.positions(values))

    def down(self, values: ArrayLike) -> Floats:
        places = np.atleast_1d(self.y.positions(values))
        return places if self.y.scale == "category" else 1 - places


def _depth(mark: Mark) -> int:
    """Fills lie below lines, lines below points, points below words."""
    kinds = (Tiles, Bars, Band, Rule, Line, Intervals, Points, Text)
    return next(i for i, kind in enumerate(kinds) if isinstance(mark, kind))


def _symbol(mark: Mark, use: Characters, several: bool) -> str:
    """The character of a mark, or nothing where it is drawn in dots."""
    match mark:
        case Points():
            if mark.crosses:
                return use.cross
            dots = mark.group == 0 and mark.weight != "strong" and not mark.hollow
            return "" if dots else use.points[mark.group % len(use.points)]
        case Intervals():
            return use.points[mark.group % len(use.points)]
        case Line():
            marked = several and mark.weight != "faint"
            return use.points[mark.group % len(use.points)] if marked else ""
        case Bars():
            return use.shades[mark.group % len(use.shades)] if mark.group else ""
        case Rule():
            return use.upright if mark.along == "x" else use.flat
        case _:
            return ""


def _draw(raster: Raster, mark: Mark, at: _Places, use: Characters, several: bool) -> None:
    symbol = _symbol(mark, use, several)
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


def _line(raster: Raster, mark: Line, at: _Places, symbol: str) -> None:
    x, y = at.across(mark.x), at.down(mark.y)
    index = kept(x, y, 12 * raster.size[1])
    x, y = x[index], y[index]
    if mark.steps and len(x):
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    raster.line(x, y)
    if symbol:
        # The character of the group now and then along the line, each group at other columns.
        where = (np.arange(0, 1, 12 / raster.size[1]) + 0.03 * (mark.group % 8 + 1)) % 1.0
        raster.put(where, _height_at(where, x, y), symbol)


def _height_at(where: Floats, x: Floats, y: Floats) -> Floats:
    """Where a line passes; NaN beyond its ends and in its gaps."""
    known = np.isfinite(x)
    order = np.argsort(x[known], kind="stable")
    if not len(order):
        return np.full(len(where), np.nan)
    return np.interp(where, x[known][order], y[known][order], left=np.nan, right=np.nan)


def _rule(raster: Raster, mark: Rule, at: _Places, symbol: str) -> None:
    place = float((at.across if mark.along == "x" else at.down)(mark.at)[0])
    if not 0 <= place <= 1:
        return
    rows, columns = raster.size
    if mark.along == "x":
        raster.characters[:, min(int(place * columns), columns - 1)] = symbol
    else:
        raster.characters[min(int(place * rows), rows - 1), :] = symbol


def _intervals(raster: Raster, mark: Intervals, at: _Places, use: Characters, symbol: str) -> None:
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


def _bars(raster: Raster, mark: Bars, at: _Places, symbol: str) -> None:
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


def _tiles(raster: Raster, mark: Tiles, at: _Places, use: Characters) -> None:
    rows, columns = raster.size
    down = at.y.categories or tuple("" for _ in range(mark.values.shape[0]))
    for row in range(rows):
        for column in range(columns):
            i = row * len(down) // rows
            value = mark.values[i, column * mark.values.shape[1] // columns]
            level = min(int(np.nan_to_num(value) * len(use.levels)), len(use.levels) - 1)
            raster.characters[row, column] = use.levels[max(level, 0)]


def _text(raster: Raster, mark: Text, at: _Places) -> None:
    x, y = at.across(mark.x)[0], at.down(mark.y)[0]
    if np.isnan(x) or np.isnan(y):
        return
    rows, columns = raster.size
    words = clean(mark.text)
    shift = {"start": 0, "middle": len(words) // 2, "end": len(words)}[mark.anchor]
    start = min(max(int(np.clip(x, 0, 1) * columns) - shift, 0), max(columns - len(words), 0))
    raster.write(min(int(np.clip(y, 0, 1) * rows), rows - 1), start, words)


def _name(tick: Tick) -> str:
    return fitted(clean(tick.text), _LONGEST_NAME)


def _beside(
    raster: Raster, y: Ruler, ticks: tuple[Tick, ...], margin: int, use: Characters
) -> list[str]:
    """The rows of the plot with the texts of the y axis."""
    rows = raster.size[0]
    texts: dict[int, str] = {}
    for tick in ticks:
        place = float(y.positions(tick.value))
        place = place if y.scale == "category" else 1 - place
        texts.setdefault(min(max(int(place * rows), 0), rows - 1), _name(tick))
    lines = []
    for row, content in enumerate(raster.lines()):
        name = texts.get(row, "")
        edge = use.tick_left if name else use.upright
        lines.append(" " * (margin - 1 - columns_of(name)) + name + " " + edge + content)
    return lines


def _below(raster: Raster, x: Ruler, margin: int, use: Characters) -> list[str]:
    """The x axis, and under it the texts that have room."""
    columns = raster.size[1]
    axis = [use.flat] * columns
    texts = [" "] * (margin + 1 + columns)
    end = 0
    room = columns // max(len(x.categories), 1) - 1 if x.scale == "category" else _LONGEST_NAME
    for tick in x.ticks(max(2, columns // 12)):
        place = min(int(float(x.positions(tick.value)) * columns), columns - 1)
        name = fitted(clean(tick.text), max(room, 3))
        start = min(
            max(margin + 1 + place - columns_of(name) // 2, 0), len(texts) - columns_of(name)
        )
        axis[max(place, 0)] = use.tick_below
        if start >= end:
            texts[start : start + columns_of(name)] = list(name)
            end = start + columns_of(name) + 1
    return [" " * margin + use.corner + "".join(axis), "".join(texts)]


def _legend(panel: Panel, width: int, use: Characters, several: bool) -> list[str]:
    lines: list[str] = []
    for name, marks in named((panel,)).items():
        symbols = "".join(dict.fromkeys(_symbol(mark, use, several) for mark in marks))
        shown = symbols or (":" if use is _PLAIN else "⠶")
        entry = fitted(f"{shown} {name}", width - 2)
        if lines and columns_of(lines[-1]) + 3 + columns_of(entry) <= width:
            lines[-1] += "   " + entry
        else:
            lines.append("  " + entry)
    return lines
