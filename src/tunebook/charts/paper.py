"""Figures drawn by matplotlib. Only `files` imports this: matplotlib is an extra."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any, assert_never

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet

from tunebook.charts.appearance import (
    COLOURS,
    HATCH_NAMES,
    MARKERS,
    dashes,
    rule_dashes,
    rule_names,
    several_groups,
)
from tunebook.charts.extents import rulers
from tunebook.charts.figures import (
    Axis,
    Band,
    Bars,
    Figure,
    Intervals,
    Line,
    Mark,
    Panel,
    Points,
    Rule,
    Text,
    Tiles,
    Weight,
)
from tunebook.charts.labels import clean, shortened
from tunebook.charts.legends import named
from tunebook.charts.scales import Ruler
from tunebook.core.curves import Floats

_WIDTHS: dict[Weight, float] = {"strong": 2.0, "plain": 1.3, "faint": 0.8}
_LINE_OPACITY: dict[Weight, float] = {"strong": 1.0, "plain": 0.95, "faint": 0.4}
_POINT_OPACITY: dict[Weight, float] = {"strong": 1.0, "plain": 0.9, "faint": 0.45}
_SIZES: dict[Weight, float] = {"strong": 40.0, "plain": 20.0, "faint": 13.0}
# Nothing that tells one writing of a file from another.
_UNDATED = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
}


@dataclass(frozen=True, slots=True)
class _Style:
    """Which channels beside colour a figure needs."""

    line_groups: bool
    bar_groups: bool
    rules: tuple[str, ...]


def drawn(figure: Figure, kind: str) -> bytes:
    """The content of a file of a kind: png, pdf or svg."""
    # Names are names: a dollar sign in one begins no formula.
    settings: dict[Any, Any] = {
        "text.parse_math": False,
        "svg.hashsalt": f"tunebook {figure.key}",
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "font.size": 9.0,
        "hatch.linewidth": 0.8,
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes; that is no reason to stop.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        sheet = _sheet(figure)
        content = io.BytesIO()
        sheet.savefig(content, format=kind, dpi=160, metadata=_UNDATED[kind])
    return content.getvalue()


def _sheet(figure: Figure) -> Sheet:
    number = max(len(figure.panels), 1)
    columns = 2 if number == 4 else min(number, 3)
    rows = -(-number // columns)
    height = sum(
        max(_height(panel, columns) for panel in figure.panels[row * columns :][:columns])
        for row in range(rows if figure.panels else 0)
    )
    sheet = Sheet(figsize=(8.0, height + 0.8), layout="constrained")
    grid = sheet.subplots(rows, columns, squeeze=False).ravel()
    style = _Style(several_groups(figure, Line), several_groups(figure, Bars), rule_names(figure))
    for axes, panel in zip(grid, figure.panels, strict=False):
        _draw(axes, panel, style, x_ticks=8 // columns + 1)
    for axes in grid[len(figure.panels) :]:
        axes.set_axis_off()
    sheet.suptitle(clean(figure.title), fontweight="bold", fontsize=11)
    _legend(sheet, list(grid), list(named(figure.panels)))
    return sheet


def _height(panel: Panel, columns: int) -> float:
    if panel.y.scale == "category":
        return max(1.8, 0.3 * len(panel.y.categories) + 0.9)
    return 3.6 if columns == 1 else 2.7


def _legend(sheet: Sheet, grid: list[Axes], names: list[str]) -> None:
    """One legend for all panels; marks of one name share an entry."""
    if not names:
        return
    found: dict[str, list[Any]] = {name: [] for name in names}
    for axes in grid:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            if type(handle) not in map(type, found[name]):
                found[name].append(handle)
    # Handles drawn over one another are a tuple to matplotlib, of which its types know nothing.
    handles: list[Any] = [tuple(kinds) for kinds in found.values()]
    texts = [shortened(name, 30, 1.0) for name in names]
    columns = min(len(names), max(1, 100 // (max(map(len, texts)) + 8)), 6)
    sheet.legend(handles, texts, loc="outside lower center", ncols=columns, frameon=False)


def _draw(axes: Axes, panel: Panel, style: _Style, x_ticks: int) -> None:
    x, y = rulers(panel)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if clean(panel.title):
        axes.set_title(shortened(panel.title, 40, 1.0), loc="left", fontsize=10)
    _settle(axes, "x", panel.x, x, x_ticks)
    _settle(axes, "y", panel.y, y, 7)
    axes.grid(visible=True, color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    for order, mark in enumerate(panel.marks):
        _mark(axes, mark, x, y, style, order + 3)


def _settle(axes: Axes, side: str, axis: Axis, ruler: Ruler, at_most: int) -> None:
    """The scale, the ends and the ticks of one axis."""
    ticks = ruler.ticks(at_most)
    texts = [shortened(tick.text, 16, 1.0) for tick in ticks]
    ends = (ruler.low, ruler.high)
    turned = 35 if ruler.scale == "category" and sum(map(len, texts)) > 40 else 0
    places = [tick.value for tick in ticks]
    if side == "x":
        axes.set_xscale("log" if ruler.scale == "log" else "linear")
        axes.set_xlim(*ends)
        axes.set_xlabel(clean(axis.label))
        axes.set_xticks(places, texts, rotation=turned, ha="right" if turned else "center")
        axes.set_xticks([], minor=True)
        return
    axes.set_yscale("log" if ruler.scale == "log" else "linear")
    # Categories are read from the top down.
    axes.set_ylim(*(ends[::-1] if ruler.scale == "category" else ends))
    axes.set_ylabel(clean(axis.label))
    axes.set_yticks(places, texts)
    axes.set_yticks([], minor=True)


def _mark(axes: Axes, mark: Mark, x: Ruler, y: Ruler, style: _Style, order: int) -> None:
    match mark:
        case Points():
            _points(axes, mark, x, y, order)
        case Line():
            _line(axes, mark, style.line_groups, order)
        case Band():
            paint = COLOURS[mark.group % len(COLOURS)]
            label = clean(mark.name)
            axes.fill_between(
                mark.x, mark.low, mark.high, color=paint, alpha=0.2, lw=0, label=label
            )
        case Intervals():
            _intervals(axes, mark, y, order)
        case Bars():
            _bars(axes, mark, style.bar_groups, order)
        case Tiles():
            _tiles(axes, mark)
        case Rule():
            across = axes.axvline if mark.along == "x" else axes.axhline
            dash = _stroke(rule_dashes(mark, style.rules))
            across(mark.at, color="0.35", lw=1, ls=dash, label=clean(mark.name), zorder=order)
        case Text():
            place = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
            axes.text(mark.x, mark.y, clean(mark.text), ha=place, va="center", clip_on=True)
        case _:
            assert_never(mark)


def _points(axes: Axes, mark: Points, x: Ruler, y: Ruler, order: int) -> None:
    paint = COLOURS[mark.group % len(COLOURS)]
    marker = "x" if mark.crosses else MARKERS[mark.group % len(MARKERS)]
    outlined = mark.hollow and not mark.crosses
    edge = "black" if mark.weight == "strong" else "white"
    colours: dict[str, Any] = (
        {"c": paint, "linewidths": 1.2}
        if mark.crosses
        else {"facecolors": "none", "edgecolors": paint, "linewidths": 1.1}
        if outlined
        else {"c": paint, "edgecolors": edge, "linewidths": 0.8 if edge == "black" else 0.4}
    )
    axes.scatter(
        _inside(mark.x, x),
        _inside(mark.y, y),
        s=_SIZES[mark.weight],
        marker=marker,
        alpha=_POINT_OPACITY[mark.weight],
        label=clean(mark.name),
        clip_on=False,
        zorder=order,
        **colours,
    )


def _inside(values: Floats, ruler: Ruler) -> Floats:
    """Values beyond the ends, moved onto them; NaN stays."""
    placed = np.where(np.isnan(ruler.positions(values)), np.nan, values)
    return np.clip(placed, ruler.low, ruler.high)


def _line(axes: Axes, mark: Line, several: bool, order: int) -> None:
    pattern = dashes(mark.group, mark.dashed, several)
    axes.plot(
        mark.x,
        mark.y,
        color=COLOURS[mark.group % len(COLOURS)],
        lw=_WIDTHS[mark.weight],
        alpha=_LINE_OPACITY[mark.weight],
        ls=_stroke(pattern),
        drawstyle="steps-post" if mark.steps else "default",
        label=clean(mark.name),
        zorder=order,
    )


def _stroke(pattern: tuple[float, ...]) -> Any:
    """Dashes in pixels as matplotlib takes them: in widths of the line."""
    return (0, tuple(part / 1.6 for part in pattern)) if pattern else "-"


def _intervals(axes: Axes, mark: Intervals, y: Ruler, order: int) -> None:
    sideways = y.scale == "category"
    value = np.asarray(mark.x if sideways else mark.y)
    # A whisker that does not reach its mark has no length on that side.
    sizes = np.maximum(np.stack([value - mark.low, np.asarray(mark.high) - value]), 0)
    axes.errorbar(
        mark.x,
        mark.y,
        xerr=sizes if sideways else None,
        yerr=None if sideways else sizes,
        fmt=MARKERS[mark.group % len(MARKERS)],
        color=COLOURS[mark.group % len(COLOURS)],
        capsize=3,
        ms=4.5,
        label=clean(mark.name),
        zorder=order,
    )


def _bars(axes: Axes, mark: Bars, several: bool, order: int) -> None:
    paint = COLOURS[mark.group % len(COLOURS)]
    hatch = HATCH_NAMES[mark.group % len(HATCH_NAMES)] if several else ""
    left = np.asarray(mark.left)
    axes.bar(
        left,
        np.asarray(mark.top) - np.asarray(mark.base),
        width=np.asarray(mark.right) - left,
        bottom=mark.base,
        align="edge",
        facecolor=(paint, 0.25 if hatch else 0.7),
        edgecolor=paint,
        linewidth=0.6,
        hatch=hatch,
        label=clean(mark.name),
        zorder=order,
    )


def _tiles(axes: Axes, mark: Tiles) -> None:
    rows, columns = np.shape(mark.values)
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    axes.pcolormesh(*edges, mark.values, cmap="Blues", vmin=0, vmax=1.8, edgecolors="w", lw=0.8)
    axes.grid(visible=False)
    for row, names in enumerate(mark.labels):
        for column, name in enumerate(names):
            if len(name) <= 7 and columns <= 16:
                axes.text(column, row, clean(name), ha="center", va="center", fontsize=7)
