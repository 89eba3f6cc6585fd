"""A panel as text, for the terminal: the same marks, axes and ticks in a few lines."""

from __future__ import annotations

from tunebook.charts.extents import rulers
from tunebook.charts.figures import Line, Mark, Panel, Points
from tunebook.charts.labels import clean
from tunebook.charts.legends import named
from tunebook.charts.raster import Raster, columns_of, fitted
from tunebook.charts.scales import Ruler, Tick
from tunebook.charts.strokes import PLAIN, RICH, Characters, Places, depth, draw, symbol_of

_LONGEST_NAME = 24


def text(panel: Panel, width: int = 76, height: int = 10, *, plain: bool = False) -> str:
    """The panel in lines of at most `width` columns, its plot `height` rows high.

    A category axis has a row for each name instead. `plain` uses ASCII alone (names stay what
    they are). Lines and the points of the first group are fine dots; other groups have characters
    of their own, named below.
    """
    use = PLAIN if plain else RICH
    x, y = rulers(panel)
    rows = max(len(y.categories), 1) if y.scale == "category" else max(height, 3)
    y_ticks = y.ticks(max(2, rows // 2))
    margin = max((columns_of(_name(tick)) for tick in y_ticks), default=0) + 1
    raster = Raster.blank(rows, max(width - margin - 1, 8), plain)
    several = len({mark.group for mark in panel.marks if isinstance(mark, Line)}) > 1
    for mark in sorted(panel.marks, key=depth):
        draw(raster, mark, Places(x, y), use, several)
    above = " - ".join(filter(None, map(clean, (panel.title, panel.y.label))))
    lines = [fitted(above, width)] if above else []
    lines += _beside(raster, y, y_ticks, margin, use)
    lines += _below(raster, x, margin, use)
    if label := clean(panel.x.label):
        lines.append(fitted(label, width).center(width - margin).rjust(width))
    lines += _legend(panel, width, use, several)
    return "\n".join(line.rstrip() for line in lines)


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
    entries = {
        name: "".join(dict.fromkeys(_sample(mark, use, several) for mark in marks))
        for name, marks in named((panel,)).items()
    }
    # Crosses have no name where they share the colours of settings, which a terminal does not show.
    crosses = [mark for mark in panel.marks if isinstance(mark, Points) and mark.crosses]
    if crosses and not any(mark.name for mark in crosses):
        entries["infeasible"] = use.cross
    lines: list[str] = []
    for name, sample in entries.items():
        entry = fitted(f"{sample} {name}", width - 2)
        if lines and columns_of(lines[-1]) + 3 + columns_of(entry) <= width:
            lines[-1] += "   " + entry
        else:
            lines.append("  " + entry)
    return lines


def _sample(mark: Mark, use: Characters, several: bool) -> str:
    """A mark as the legend shows it: its character, or else its dots, of which a point is one."""
    single = isinstance(mark, Points)
    dots = ("." if single else ":") if use is PLAIN else ("⠂" if single else "⠶")
    return symbol_of(mark, use, several) or dots
