"""Marks as pieces of SVG: what a mark looks like in pixels, and how its paths are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np

from tunebook.charts.appearance import HATCHES, SHAPES, colour, dashes
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
    Weight,
)
from tunebook.charts.labels import clean, escaped, width_of
from tunebook.charts.layout import TICK, Plot
from tunebook.core.curves import Floats

_WIDTHS: dict[Weight, str] = {"strong": "2.4", "plain": "1.6", "faint": "1"}
_LINE_OPACITY: dict[Weight, str] = {"strong": "1", "plain": ".95", "faint": ".4"}
_POINT_OPACITY: dict[Weight, str] = {"strong": "1", "plain": ".9", "faint": ".45"}


@dataclass(frozen=True, slots=True)
class Style:
    """What marks of one figure share: the prefix of its ids, and which channels are needed."""

    prefix: str
    line_groups: bool
    bar_groups: bool


def mark_svg(mark: Mark, plot: Plot, style: Style, clip: str) -> str:
    """One mark as an SVG element."""
    match mark:
        case Points():
            return _points(mark, plot, style)
        case Line():
            return _line(mark, plot, style, clip)
        case Band():
            return _band(mark, plot, clip)
        case Intervals():
            return _intervals(mark, plot, style)
        case Bars():
            return _bars(mark, plot, style, clip)
        case Tiles():
            return _tiles(mark, plot)
        case Rule():
            return _rule(mark, plot)
        case Text():
            return _text(mark, plot)
        case _:
            assert_never(mark)


def number(value: float) -> str:
    """A coordinate to a tenth of a pixel.

    >>> number(12.04), number(-0.04), number(3.16)
    ('12', '0', '3.2')
    """
    return f"{round(float(value), 1) + 0.0:.1f}".removesuffix(".0")


def titled(label: str) -> str:
    """A tooltip, or nothing."""
    text = escaped(label)
    return f"<title>{text}</title>" if text else ""


def symbol_id(style: Style, group: int, weight: Weight, crosses: bool) -> str:
    """The id of the shared shape that points of a group are drawn with."""
    shape = "x" if crosses else str(group % len(SHAPES))
    return f"{style.prefix}{weight[0]}{shape}"


def hatch_id(style: Style, group: int) -> str:
    """The id of the shared hatch that bars of a group are filled with."""
    return f"{style.prefix}h{group}"


def point_paint(group: int, weight: Weight, hollow: bool, crosses: bool) -> str:
    """The attributes that points of a kind share."""
    paint = colour(group)
    if crosses or hollow:
        width = "2" if weight == "strong" else "1.5"
        return f'fill="none" stroke="{paint}" stroke-width="{width}" pointer-events="all"'
    edge = "currentColor" if weight == "strong" else "var(--tb-ground,none)"
    return f'fill="{paint}" stroke="{edge}" stroke-width="{1.2 if weight == "strong" else 0.6}"'


def line_paint(mark: Line, style: Style) -> str:
    """The attributes of a line."""
    pattern = dashes(mark.group, mark.dashed, style.line_groups)
    dash = f' stroke-dasharray="{" ".join(map(str, pattern))}"' if pattern else ""
    return (
        f'fill="none" stroke="{colour(mark.group)}" stroke-width="{_WIDTHS[mark.weight]}"'
        f' stroke-opacity="{_LINE_OPACITY[mark.weight]}" stroke-linejoin="round"{dash}'
    )


def bar_paint(group: int, style: Style) -> str:
    """The attributes of bars: a hatch tells groups apart where there are several."""
    paint = colour(group)
    hatched = style.bar_groups and HATCHES[group % len(HATCHES)]
    fill = (
        f'fill="url(#{hatch_id(style, group)})"' if hatched else f'fill="{paint}" fill-opacity=".7"'
    )
    return f'{fill} stroke="{paint}" stroke-width=".8"'


def _points(mark: Points, plot: Plot, style: Style) -> str:
    x = np.clip(plot.across(mark.x), plot.left, plot.right)
    y = np.clip(plot.down(mark.y), plot.top, plot.bottom)
    shape = symbol_id(style, mark.group, mark.weight, mark.crosses)
    uses = _uses(shape, x, y, mark.labels)
    paint = point_paint(mark.group, mark.weight, mark.hollow, mark.crosses)
    opacity = "1" if mark.crosses and mark.weight != "faint" else _POINT_OPACITY[mark.weight]
    return f'<g {paint} opacity="{opacity}">{titled(mark.name)}{uses}</g>'


def _uses(shape: str, x: Floats, y: Floats, labels: tuple[str, ...]) -> str:
    pieces = []
    for i in np.flatnonzero(np.isfinite(x) & np.isfinite(y)):
        start = f'<use href="#{shape}" x="{number(x[i])}" y="{number(y[i])}"'
        label = titled(labels[i]) if i < len(labels) else ""
        pieces.append(f"{start}>{label}</use>" if label else f"{start}/>")
    return "".join(pieces)


def _line(mark: Line, plot: Plot, style: Style, clip: str) -> str:
    path = line_path(plot.across(mark.x), plot.down(mark.y), mark.steps)
    return (
        f'<path {line_paint(mark, style)} clip-path="url(#{clip})" d="{path}">'
        f"{titled(mark.label or mark.name)}</path>"
    )


def line_path(x: Floats, y: Floats, steps: bool = False) -> str:
    """The commands of a line: it breaks at NaN, and a point alone is a dot.

    >>> line_path(np.array([0.0, 1, 2, 3]), np.array([0.0, 1, np.nan, 3]))
    'M0 0 1 1M3 3h0'
    """
    broken = ~(np.isfinite(x) & np.isfinite(y))
    pieces: list[str] = []
    for run in np.split(np.arange(len(x)), np.flatnonzero(broken)):
        kept = run[~broken[run]]
        if not len(kept):
            continue
        places = [(number(x[i]), number(y[i])) for i in kept]
        pieces.append(_stairs(places) if steps else _straight(places))
    return "".join(pieces)


def _straight(places: list[tuple[str, str]]) -> str:
    kept = [a for a, b in zip(places, [None, *places], strict=False) if a != b]
    start = "M" + " ".join(f"{x} {y}" for x, y in kept)
    return start if len(kept) > 1 else start + "h0"


def _stairs(places: list[tuple[str, str]]) -> str:
    (x, y), *rest = places
    pieces = [f"M{x} {y}"]
    for next_x, next_y in rest:
        pieces.append(f"H{next_x}" + (f"V{next_y}" if next_y != y else ""))
        y = next_y
    return "".join(pieces) if rest else pieces[0] + "h0"


def _band(mark: Band, plot: Plot, clip: str) -> str:
    x, low, high = plot.across(mark.x), plot.down(mark.low), plot.down(mark.high)
    broken = ~(np.isfinite(x) & np.isfinite(low) & np.isfinite(high))
    pieces = []
    for run in np.split(np.arange(len(x)), np.flatnonzero(broken)):
        kept = run[~broken[run]]
        if len(kept) > 1:
            corners = [*zip(x[kept], low[kept], strict=True)]
            corners += [*zip(x[kept[::-1]], high[kept[::-1]], strict=True)]
            pieces.append("M" + " ".join(f"{number(a)} {number(b)}" for a, b in corners) + "z")
    return (
        f'<path fill="{colour(mark.group)}" fill-opacity=".2" clip-path="url(#{clip})"'
        f' d="{"".join(pieces)}">{titled(mark.name)}</path>'
    )


def _intervals(mark: Intervals, plot: Plot, style: Style) -> str:
    x = np.clip(plot.across(mark.x), plot.left, plot.right)
    y = np.clip(plot.down(mark.y), plot.top, plot.bottom)
    ends = np.stack([mark.low, mark.high])
    if plot.y.scale == "category":
        ends = np.clip(plot.across(ends), plot.left, plot.right)
        whiskers = _whiskers(y, ends, "M{1} {0}H{2}M{1} {3}v7M{2} {3}v7")
    else:
        ends = np.clip(plot.down(ends), plot.top, plot.bottom)
        whiskers = _whiskers(x, ends, "M{0} {1}V{2}M{3} {1}h7M{3} {2}h7")
    paint = colour(mark.group)
    shape = symbol_id(style, mark.group, "plain", False)
    return (
        f'<g fill="{paint}">{titled(mark.name)}'
        f'<path fill="none" stroke="{paint}" stroke-width="1.5" d="{whiskers}"/>'
        f"{_uses(shape, x, y, mark.labels)}</g>"
    )


def _whiskers(at: Floats, ends: Floats, pattern: str) -> str:
    """A path of all whiskers; `ends` has the shape `(2, n)`."""
    pieces = []
    for i in np.flatnonzero(np.isfinite(at) & np.all(np.isfinite(ends), axis=0)):
        places = (at[i], ends[0, i], ends[1, i], at[i] - 3.5)
        pieces.append(pattern.format(*map(number, places)))
    return "".join(pieces)


def _bars(mark: Bars, plot: Plot, style: Style, clip: str) -> str:
    left, right = plot.across(mark.left), plot.across(mark.right)
    top, base = plot.down(mark.top), plot.down(mark.base)
    high, low = np.minimum(top, base), np.maximum(top, base)
    pieces = []
    for i in np.flatnonzero(np.isfinite(left + right + high + low) & (low > high)):
        wide = max(right[i] - left[i], 1.0)
        path = (
            f"M{number(left[i])} {number(high[i])}h{number(wide)}V{number(low[i])}h{number(-wide)}z"
        )
        label = titled(mark.labels[i]) if i < len(mark.labels) else ""
        pieces.append(f'<path d="{path}">{label}</path>' if label else f'<path d="{path}"/>')
    return (
        f'<g {bar_paint(mark.group, style)} clip-path="url(#{clip})">'
        f"{titled(mark.name)}{''.join(pieces)}</g>"
    )


def _tiles(mark: Tiles, plot: Plot) -> str:
    rows, columns = mark.values.shape
    x, y = plot.across(np.arange(columns + 1) - 0.5), plot.down(np.arange(rows + 1) - 0.5)
    y = np.sort(y) if plot.y.scale == "category" else y
    cells = []
    for row in range(rows):
        for column in range(columns):
            label = mark.labels[row][column] if row < len(mark.labels) else ""
            box = (x[column], min(y[row], y[row + 1]), x[1] - x[0], abs(y[1] - y[0]))
            cells.append(_tile(float(mark.values[row, column]), box, label))
    return "".join(cells)


def _tile(value: float, box: tuple[float, float, float, float], label: str) -> str:
    left, top, width, height = box
    place = (
        f'x="{number(left + 0.75)}" y="{number(top + 0.75)}"'
        f' width="{number(max(width - 1.5, 0.5))}" height="{number(max(height - 1.5, 0.5))}"'
    )
    # At its darkest a tile still lets the text on it be read, in the light and in the dark.
    paint = (
        f'fill="{colour(0)}" fill-opacity="{0.05 + 0.6 * min(max(value, 0.0), 1.0):.2f}"'
        if np.isfinite(value)
        else 'fill="none" stroke="currentColor" stroke-opacity=".25" stroke-dasharray="2 2"'
    )
    shown = ""
    if width_of(clean(label), TICK) + 4 <= width and height >= 15 and clean(label):
        middle = f'x="{number(left + width / 2)}" y="{number(top + height / 2 + 4)}"'
        shown = f'<text {middle} text-anchor="middle">{escaped(label)}</text>'
    return f"<g>{titled(label)}<rect {place} {paint}/>{shown}</g>"


def _rule(mark: Rule, plot: Plot) -> str:
    if mark.along == "x":
        place = float(plot.across(mark.at))
        inside = plot.left - 0.5 <= place <= plot.right + 0.5
        path = f"M{number(place)} {number(plot.top)}V{number(plot.bottom)}"
    else:
        place = float(plot.down(mark.at))
        inside = plot.top - 0.5 <= place <= plot.bottom + 0.5
        path = f"M{number(plot.left)} {number(place)}H{number(plot.right)}"
    return f'<path {rule_paint(mark)} d="{path}">{titled(mark.name)}</path>' if inside else ""


def rule_paint(mark: Rule) -> str:
    """The attributes of a rule: the colour of the text, so that it belongs to no group."""
    dash = ' stroke-dasharray="5 4"' if mark.dashed else ""
    return f'fill="none" stroke="currentColor" stroke-opacity=".65" stroke-width="1.2"{dash}'


def _text(mark: Text, plot: Plot) -> str:
    x, y = float(plot.across(mark.x)), float(plot.down(mark.y))
    if not (np.isfinite(x) and np.isfinite(y)):
        return ""
    x, y = min(max(x, plot.left), plot.right), min(max(y, plot.top + 6), plot.bottom - 6)
    place = f'x="{number(x)}" y="{number(y + 4)}" text-anchor="{mark.anchor}"'
    return f"<text {place}>{escaped(mark.text)}</text>"
