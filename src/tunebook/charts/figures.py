"""Pictures as values: panels of marks on axes. Drawings (SVG, matplotlib, text) come after.

A figure is the same whoever draws it, and a test can look at it. Colour is never alone: a group
also has a shape or a dash, and every figure has a sentence and a table that say what it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tunebook.core.curves import Floats

Scale: TypeAlias = Literal["linear", "log", "category"]
Weight: TypeAlias = Literal["strong", "plain", "faint"]


@dataclass(frozen=True, slots=True)
class Axis:
    """A label, a scale and, where they are given, its ends.

    On a category axis positions are 0, 1, 2, ... and `categories` are their names; a vertical one
    is read from the top down.
    """

    label: str
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Single points. `group` picks colour and shape together; `labels` are tooltips.

    `crosses` draws them as crosses in the colour of the group: trials that are infeasible. A point
    beyond the ends of an axis, at infinity say, is drawn on its edge; NaN is not drawn.
    """

    x: Floats
    y: Floats
    group: int = 0
    name: str = ""
    labels: tuple[str, ...] = ()
    weight: Weight = "plain"
    hollow: bool = False
    crosses: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line through points in the order given; it breaks at NaN. `steps` draws it as stairs."""

    x: Floats
    y: Floats
    group: int = 0
    name: str = ""
    label: str = ""
    weight: Weight = "plain"
    dashed: bool = False
    steps: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The region between two lines."""

    x: Floats
    low: Floats
    high: Floats
    group: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """A mark with a whisker for each position: a value and its uncertainty.

    The whisker goes from `low` to `high` along y; along x where y is a category axis.
    """

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    group: int = 0
    name: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Rectangles from `base` to `top` between `left` and `right`: histograms and timelines."""

    left: Floats
    right: Floats
    top: Floats
    base: Floats
    group: int = 0
    name: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """Values from 0 to 1, `(rows, columns)`, drawn light to dark on two category axes."""

    values: Floats
    labels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line across the panel at one position of the x or the y axis."""

    at: float
    along: Literal["x", "y"]
    name: str = ""
    dashed: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """A short text at a place."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "middle"


Mark: TypeAlias = Points | Line | Band | Intervals | Bars | Tiles | Rule | Text


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Marks on two axes, drawn in order. `title` is needed where a figure has several panels."""

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers behind a figure, as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A picture of one kind, with a sentence that says what it shows and a table of its numbers.

    `key` names it in files and links; `note` tells what was left out, such as thinned points.
    """

    key: str
    title: str
    sentence: str
    panels: tuple[Panel, ...]
    table: Table
    note: str = ""
