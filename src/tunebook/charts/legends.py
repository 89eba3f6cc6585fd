"""The legend of a figure, built from the names of its marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tunebook.charts.figures import Figure, Mark, Panel, Points, Text, Tiles
from tunebook.charts.labels import clean, shortened, width_of

SIZE = 12.0
_SWATCH, _POINT = 28.0, 12.0
_ROW = 20.0
_BETWEEN = 18.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A name, the marks that bear it (one of each kind), its place and the width of its swatch."""

    name: str
    text: str
    marks: tuple[Mark, ...]
    left: float
    middle: float
    swatch: float


def named(panels: Sequence[Panel]) -> dict[str, tuple[Mark, ...]]:
    """The marks of each name, one of each kind and group; names in the order of their groups."""
    found: dict[str, dict[tuple[object, ...], Mark]] = {}
    for panel in panels:
        for mark in panel.marks:
            if isinstance(mark, Text | Tiles) or not clean(mark.name):
                continue
            kind = (type(mark), getattr(mark, "group", None), getattr(mark, "crosses", None))
            found.setdefault(clean(mark.name), {}).setdefault(kind, mark)
    entries = {name: tuple(marks.values()) for name, marks in found.items()}
    return dict(sorted(entries.items(), key=lambda entry: _rank(entry[1][0])))


def _rank(mark: Mark) -> float:
    """Groups in their order; rules, which have none, after them."""
    return getattr(mark, "group", math.inf)


def placed_legend(figure: Figure, width: float) -> tuple[tuple[Entry, ...], float]:
    """The entries in rows from the left, and the height of all rows."""
    entries: list[Entry] = []
    left, middle = 0.0, _ROW / 2
    for name, marks in named(figure.panels).items():
        swatch = _POINT if all(isinstance(mark, Points) for mark in marks) else _SWATCH
        text = shortened(name, min(width - swatch - 8, 320.0), SIZE)
        needed = swatch + 6 + width_of(text, SIZE)
        if left and left + needed > width:
            left, middle = 0.0, middle + _ROW
        entries.append(Entry(name, text, marks, left, middle, swatch))
        left += needed + _BETWEEN
    return tuple(entries), (middle + _ROW / 2 + 4 if entries else 0.0)
