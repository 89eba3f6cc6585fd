"""The frame of a panel as SVG: its title, its axes with ticks, its grid."""

from __future__ import annotations

import math

from tunebook.charts.labels import clean, escaped, shortened
from tunebook.charts.layout import LABEL, TICK, TITLE, Placed
from tunebook.charts.paint import number, titled
from tunebook.charts.scales import Tick

_GRID = 'fill="none" stroke="currentColor" stroke-opacity=".13"'
_AXIS = 'fill="none" stroke="currentColor" stroke-opacity=".6"'


def frame_svg(placed: Placed) -> str:
    """Title, labels, grid, axes and ticks, in the order in which they lie on one another."""
    pieces = (_titles(placed), _lines(placed), _x_texts(placed), _y_texts(placed))
    return "\n".join(piece for piece in pieces if piece)


def _titles(placed: Placed) -> str:
    """The title and the label of y above the plot, where they are read without turning."""
    plot, panel = placed.plot, placed.panel
    left = plot.left - placed.y_name_room - 11
    room = plot.right - left
    pieces = []
    if clean(panel.y.label):
        style = 'fill-opacity=".8"'
        pieces.append(_text(panel.y.label, left, plot.top - 10, room, LABEL, style))
    if clean(panel.title):
        # From the top of the row, so that titles side by side are level.
        top = plot.top - placed.head + 17
        pieces.append(_text(panel.title, left, top, room, TITLE, 'font-weight="600"'))
    if clean(panel.x.label):
        middle = plot.left + plot.width / 2
        style = 'text-anchor="middle" fill-opacity=".8"'
        text = _text(panel.x.label, middle, plot.bottom + placed.foot - 4, room, LABEL, style)
        pieces.append(text)
    return "".join(pieces)


def _lines(placed: Placed) -> str:
    plot = placed.plot
    left, right = number(plot.left), number(plot.right)
    top, bottom = number(plot.top), number(plot.bottom)
    grid = [
        f"M{left} {number(y)}H{right}"
        for y in plot.down([tick.value for tick in placed.y_ticks])
        if plot.y.scale != "category"
    ]
    grid += [
        f"M{number(x)} {top}V{bottom}"
        for x in plot.across([tick.value for tick in placed.x_ticks])
        if plot.x.scale != "category"
    ]
    ticks = [f"M{number(x)} {bottom}v4" for x in plot.across([t.value for t in placed.x_ticks])]
    frame = f"M{left} {top}V{bottom}H{right}"
    return f'<path {_GRID} d="{"".join(grid)}"/><path {_AXIS} d="{frame}{"".join(ticks)}"/>'


def _x_texts(placed: Placed) -> str:
    plot, slant = placed.plot, placed.slant
    edge = plot.left - placed.y_name_room - 11
    apart = 12.0 / math.sin(math.radians(slant)) if slant else 0.0
    pieces = []
    for tick in _spaced(placed.x_ticks, plot.width, apart):
        x, y = float(plot.across(tick.value)), plot.bottom + 16
        if slant:
            x, y = x + 4, y - 4
            turn = f'transform="rotate(-{slant:g} {number(x)} {number(y)})"'
            # A turned name ends below its tick and must begin within the figure.
            room = min(placed.x_name_room, (x - edge - 6) / math.cos(math.radians(slant)))
            pieces.append(_text(tick.text, x, y, room, TICK, turn))
        else:
            room = placed.x_name_room if plot.x.scale == "category" else plot.width
            pieces.append(_text(tick.text, x, y, room, TICK, ""))
    anchor = "end" if slant else "middle"
    return f'<g fill-opacity=".85" text-anchor="{anchor}">{"".join(pieces)}</g>'


def _y_texts(placed: Placed) -> str:
    plot = placed.plot
    pieces = []
    for tick in _spaced(placed.y_ticks, plot.height, 12.0):
        y = float(plot.down(tick.value)) + 3.8
        room = placed.y_name_room if plot.y.scale == "category" else plot.right
        pieces.append(_text(tick.text, plot.left - 6, y, room, TICK, ""))
    return f'<g fill-opacity=".85" text-anchor="end">{"".join(pieces)}</g>'


def _spaced(ticks: tuple[Tick, ...], length: float, least: float) -> tuple[Tick, ...]:
    """Every tick, or every few where their texts would lie on one another."""
    stride = max(1, -int(-least * len(ticks) // max(length, 1.0)))
    return ticks[::stride]


def _text(text: str, x: float, y: float, room: float, size: float, style: str) -> str:
    """A text that is shortened to its room, whole in its tooltip."""
    shown = shortened(text, room, size)
    tooltip = titled(text) if shown != clean(text) else ""
    bigger = f' font-size="{size:g}"' if size != TICK else ""
    extra = f" {style}" if style else ""
    place = f'x="{number(x)}" y="{number(y)}"'
    return f"<text {place}{bigger}{extra}>{tooltip}{escaped(shown)}</text>"
