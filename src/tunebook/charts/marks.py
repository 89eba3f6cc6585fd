"""Marks as pieces of SVG: what a mark looks like in pixels, and how its paths are written."""

from __future__ import annotations

from typing import assert_never

import numpy as np

from tunebook.charts.appearance import colour
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
from tunebook.charts.labels import clean, escaped, width_of
from tunebook.charts.layout import TICK, Plot
from tunebook.charts.paint import (
    POINT_OPACITY,
    Style,
    bar_paint,
    line_paint,
    number,
    point_paint,
    rule_paint,
    symbol_id,
    titled,
)
from tunebook.core.curves import Floats


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
            return _rule(mark, plot, style)
        case Text():
            return _text(mark, plot)
        case _:
            assert_never(mark)


def _points(mark: Points, plot: Plot, style: Style) -> str:
    x = np.clip(plot.across(mark.x), plot.left, plot.right)
    y = np.clip(plot.down(mark.y), plot.top, plot.bottom)
    shape = symbol_id(style, mark.group, mark.weight, mark.crosses)
    uses = _uses(shape, x, y, mark.labels)
    paint = point_paint(mark.group, mark.weight, mark.hollow, mark.crosses)
    opacity = "1" if mark.crosses and mark.weight != "faint" else POINT_OPACITY[mark.weight]
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
        f'<path fill="{colour(mark.group)}" fill-opacity=".17" clip-path="url(#{clip})"'
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


def _rule(mark: Rule, plot: Plot, style: Style) -> str:
    if mark.along == "x":
        place = float(plot.across(mark.at))
        inside = plot.left - 0.5 <= place <= plot.right + 0.5
        path = f"M{number(place)} {number(plot.top)}V{number(plot.bottom)}"
    else:
        place = float(plot.down(mark.at))
        inside = plot.top - 0.5 <= place <= plot.bottom + 0.5
        path = f"M{number(plot.left)} {number(place)}H{number(plot.right)}"
    return (
        f'<path {rule_paint(mark, style)} d="{path}">{titled(mark.name)}</path>' if inside else ""
    )


def _text(mark: Text, plot: Plot) -> str:
    x, y = float(plot.across(mark.x)), float(plot.down(mark.y))
    if not (np.isfinite(x) and np.isfinite(y)):
        return ""
    x, y = min(max(x, plot.left), plot.right), min(max(y, plot.top + 6), plot.bottom - 6)
    place = f'x="{number(x)}" y="{number(y + 4)}" text-anchor="{mark.anchor}"'
    # Where the page tells its ground, what lies under the words is kept off them.
    halo = 'stroke="var(--tb-ground,none)" stroke-width="3" paint-order="stroke"'
    return f"<text {place} {halo}>{escaped(mark.text)}</text>"
