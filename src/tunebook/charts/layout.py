"""Where things go on the page: a legend on top, panels in rows, room for every label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tunebook.charts.extents import rulers
from tunebook.charts.figures import Figure, Panel, Tiles
from tunebook.charts.labels import clean, width_of
from tunebook.charts.legends import Entry, placed_legend
from tunebook.charts.scales import Ruler, Tick
from tunebook.core.curves import Floats

TICK, LABEL, TITLE = 11.0, 12.0, 13.0
# How names below a plot may be turned, in degrees: as little as keeps them apart.
_SLANTS = (35.0, 65.0)
_LINE_HEIGHT = 12.0
_GAP = 24.0
_RIGHT = 14.0
_LONGEST_NAME, _LONGEST_SLANTED = 150.0, 115.0
_LEAST_PLOT = 140.0
_MOST_Y_TICKS = 8
# A line that leaves the panel goes this many panels far at most: enough to keep its slope.
_FAR = 50.0


@dataclass(frozen=True, slots=True)
class Plot:
    """The area of a panel between its axes, in pixels, and its rulers."""

    left: float
    top: float
    width: float
    height: float
    x: Ruler
    y: Ruler

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def across(self, values: ArrayLike) -> Floats:
        """Pixels from the left for values of x; NaN where there is no place."""
        return self.left + np.clip(self.x.positions(values), -_FAR, _FAR) * self.width

    def down(self, values: ArrayLike) -> Floats:
        """Pixels from the top for values of y; categories are read from the top down."""
        places = self.y.positions(values)
        places = places if self.y.scale == "category" else 1 - places
        return self.top + np.clip(places, -_FAR, _FAR) * self.height


@dataclass(frozen=True, slots=True)
class Placed:
    """A panel with its plot and ticks.

    Names on an axis may take their `name_room`; those below are turned by `slant` degrees. `head`
    and `foot` are the heights of all that is above and below the plots of its row.
    """

    panel: Panel
    plot: Plot
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    slant: float
    x_name_room: float
    y_name_room: float
    head: float
    foot: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A figure laid out at a width."""

    width: float
    height: float
    legend: tuple[Entry, ...]
    panels: tuple[Placed, ...]


def layout(figure: Figure, width: float) -> Layout:
    """Places for all parts of a figure: panels wrap, and share the margins of their column."""
    legend, top = placed_legend(figure, width)
    panels = figure.panels
    axes = [rulers(panel) for panel in panels]
    margins = [_margin(y) for _, y in axes]
    columns = _columns(panels, axes, margins, width)
    cell = (width - (columns - 1) * _GAP) / columns
    lefts = _lefts(axes, margins, columns, cell)
    placed: list[Placed] = []
    for start in range(0, len(panels), columns):
        row = range(start, min(start + columns, len(panels)))
        head = max(_head(panels[i]) for i in row)
        height = max(_height(panels[i], *axes[i], cell - lefts[i], columns) for i in row)
        made = []
        for i in row:
            left = (i - start) * (cell + _GAP) + lefts[i]
            plot = Plot(left, top + head, cell - lefts[i] - _RIGHT, height, *axes[i])
            made.append(_placed(panels[i], plot, lefts[i], head))
        placed += made
        top += head + height + max(one.foot for one in made) + 10
    return Layout(width, top, legend, tuple(placed))


def _margin(y: Ruler) -> float:
    """The room that the texts of a y axis need, whatever the number of its ticks will be."""
    texts = [clean(tick.text) for number in range(2, _MOST_Y_TICKS + 1) for tick in y.ticks(number)]
    widest = max((width_of(text, TICK) for text in texts), default=0.0)
    return max(24.0, min(widest, _LONGEST_NAME) + 11)


def _lefts(
    axes: Sequence[tuple[Ruler, Ruler]], margins: Sequence[float], columns: int, cell: float
) -> list[float]:
    """The margin of each panel: numbers share that of their column, names take what they need."""
    lefts = []
    for i, (_, y) in enumerate(axes):
        column = range(i % columns, len(axes), columns)
        numbers = [margins[j] for j in column if axes[j][1].scale != "category"]
        lefts.append(min(margins[i] if y.scale == "category" else max(numbers), cell * 0.45))
    return lefts


def _columns(
    panels: Sequence[Panel],
    axes: Sequence[tuple[Ruler, Ruler]],
    margins: Sequence[float],
    width: float,
) -> int:
    """How many panels stand side by side: three at most, none squeezed, four as two by two."""
    needs = [
        margin + _RIGHT + max(_LEAST_PLOT, 15.0 * len(x.categories))
        for (x, _), margin in zip(axes, margins, strict=True)
    ]
    widest = max(needs, default=width)
    room = max(1, min(3, int((width + _GAP) // (widest + _GAP)), len(panels)))
    if room == 3 and len(panels) == 4:
        return 2
    return room


def _head(panel: Panel) -> float:
    """The room above a plot: its title and the label of its y axis."""
    return 8 + (19 if clean(panel.title) else 0) + (18 if clean(panel.y.label) else 0)


def _height(panel: Panel, x: Ruler, y: Ruler, width: float, columns: int) -> float:
    """The height of a plot: a good proportion, or room for every category."""
    shape, least, most = (0.44, 170.0, 320.0) if columns == 1 else (0.72, 120.0, 220.0)
    usual = min(max(shape * width, least), most)
    if y.scale != "category":
        return usual
    tiles = any(isinstance(mark, Tiles) for mark in panel.marks)
    across = width / max(len(x.categories), 1)
    step = min(max(across * 0.6, 22.0), 44.0) if tiles else 26.0
    return max(60.0, min(step * len(y.categories), 1600.0))


def _placed(panel: Panel, plot: Plot, left: float, head: float) -> Placed:
    x_ticks = plot.x.ticks(max(2, int(plot.width // 58)))
    y_ticks = plot.y.ticks(min(max(2, int(plot.height // 30)), _MOST_Y_TICKS))
    step = plot.width / max(len(x_ticks), 1)
    widest = max((width_of(clean(tick.text), TICK) for tick in x_ticks), default=0.0)
    slant, room, below = 0.0, step - 6, 17.0
    if plot.x.scale == "category" and widest > room:
        slant = next((a for a in _SLANTS if step * _rise(a) >= _LINE_HEIGHT), _SLANTS[-1])
        room = _LONGEST_SLANTED
        below = 14 + min(widest, room) * _rise(slant)
    foot = below + (18 if clean(panel.x.label) else 0)
    return Placed(panel, plot, x_ticks, y_ticks, slant, room, left - 11, head, foot)


def _rise(degrees: float) -> float:
    return math.sin(math.radians(degrees))
