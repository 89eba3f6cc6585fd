"""A figure as one SVG: no script, no reference outside itself, colours that a page may set.

A page sets `--tb-1` to `--tb-8` (the groups) and `--tb-font`; texts and axes take its text colour.
Alone, the drawing falls back on colours that are seen on white and on black.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tunebook.charts.appearance import CROSS, HATCHES, SHAPES, colour, rule_names, several_groups
from tunebook.charts.figures import Band, Bars, Figure, Intervals, Line, Mark, Points, Rule
from tunebook.charts.frames import frame_svg
from tunebook.charts.labels import escaped
from tunebook.charts.layout import TICK, Layout, Placed, Plot, layout
from tunebook.charts.legends import SIZE, Entry
from tunebook.charts.marks import mark_svg
from tunebook.charts.paint import (
    Style,
    bar_paint,
    hatch_id,
    line_paint,
    number,
    point_paint,
    rule_paint,
    symbol_id,
    titled,
)
from tunebook.charts.thinning import kept

_FONT = "var(--tb-font,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif)"
# What the lines of a panel may cost together, and what each may at least.
_LINE_POINTS, _LEAST_POINTS = 9000, 60
_SCALES = {"strong": 1.3, "plain": 1.0, "faint": 0.85}


def svg(figure: Figure, *, width: float = 720) -> str:
    """The figure as SVG, `width` pixels wide at its natural size and never wider than its place.

    Its title and sentence are in it for those who cannot see it; a page that shows them to all
    writes them beside it. Panels wrap to the width: draw anew for a narrow page.
    """
    style = _style(figure, width)
    plan = layout(figure, width)
    panels = [_lightened(placed) for placed in plan.panels]
    pieces = [
        _head(figure, plan, style, sum(left_out for _, left_out in panels)),
        _definitions(figure, plan, style),
        *(_entry(entry, style) for entry in plan.legend),
        *(_panel(placed, style, index) for index, (placed, _) in enumerate(panels)),
        "</svg>",
    ]
    return "\n".join(piece for piece in pieces if piece)


def _style(figure: Figure, width: float) -> Style:
    # Ids are one space for a whole page, which may hold a figure at several widths.
    named = f"{figure.key} {width:g}".encode("utf-8", "replace")
    digest = hashlib.blake2s(named, digest_size=4).digest()
    prefix = "f" + base64.b32encode(digest).decode("ascii").rstrip("=").lower()
    several = several_groups(figure, Line), several_groups(figure, Bars)
    return Style(prefix, *several, rule_names(figure))


def _lightened(placed: Placed) -> tuple[Placed, int]:
    """The panel with its long lines thinned, and how many points were left out."""
    marks = placed.panel.marks
    lines = sum(isinstance(mark, Line | Band) for mark in marks)
    budget = max(_LEAST_POINTS, _LINE_POINTS // max(lines, 1))
    budget = min(budget, 6 * int(placed.plot.width))
    drawn = tuple(_thinned(mark, placed.plot, budget) for mark in marks)
    left_out = sum(
        len(before.x) - len(after.x)
        for before, after in zip(marks, drawn, strict=True)
        if isinstance(before, Line | Band) and isinstance(after, Line | Band)
    )
    return replace(placed, panel=replace(placed.panel, marks=drawn)), left_out


def _thinned(mark: Mark, plot: Plot, budget: int) -> Mark:
    match mark:
        case Line():
            index = kept(plot.across(mark.x), plot.down(mark.y), budget)
            return replace(mark, x=mark.x[index], y=mark.y[index])
        case Band():
            x = plot.across(mark.x)
            low, high = (kept(x, plot.down(side), budget) for side in (mark.low, mark.high))
            index = np.union1d(low, high)
            return replace(mark, x=mark.x[index], low=mark.low[index], high=mark.high[index])
        case _:
            return mark


def _head(figure: Figure, plan: Layout, style: Style, left_out: int) -> str:
    thinned = f"{left_out:,} points of lines are not drawn; no peak is lost." if left_out else ""
    described = " ".join(filter(None, [figure.sentence, figure.note, thinned]))
    width, height, prefix = number(plan.width), number(plan.height), style.prefix
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" style="max-width:100%;height:auto" role="img" class="tb-figure"'
        f' aria-labelledby="{prefix}t {prefix}d" font-family="{_FONT}" font-size="{TICK:g}"'
        f' fill="currentColor">\n<title id="{prefix}t">{escaped(figure.title)}</title>\n'
        f'<desc id="{prefix}d">{escaped(described)}</desc>'
    )


def _definitions(figure: Figure, plan: Layout, style: Style) -> str:
    """What is drawn many times and defined once: shapes, hatches, and the areas of the plots."""
    marks = [mark for panel in figure.panels for mark in panel.marks]
    wanted = dict(part for mark in marks for part in _definitions_of(mark, style))
    for index, placed in enumerate(plan.panels):
        plot = placed.plot
        wanted[_clip(style, index)] = (
            f'<clipPath id="{_clip(style, index)}"><rect x="{number(plot.left - 1)}"'
            f' y="{number(plot.top - 1)}" width="{number(plot.width + 2)}"'
            f' height="{number(plot.height + 2)}"/></clipPath>'
        )
    return f"<defs>{''.join(wanted.values())}</defs>"


def _definitions_of(mark: Mark, style: Style) -> Iterator[tuple[str, str]]:
    if isinstance(mark, Points | Intervals):
        points = mark if isinstance(mark, Points) else None
        weight = points.weight if points else "plain"
        crosses = points is not None and points.crosses
        name = symbol_id(style, mark.group, weight, crosses)
        shape = CROSS if crosses else SHAPES[mark.group % len(SHAPES)]
        scale = _SCALES[weight]
        grown = f' transform="scale({scale})"' if scale != 1 else ""
        yield name, f'<path id="{name}"{grown} d="{shape}"/>'
    elif isinstance(mark, Bars) and style.bar_groups:
        name = hatch_id(style, mark.group)
        paint = colour(mark.group)
        yield (
            name,
            f'<pattern id="{name}" width="8" height="8" patternUnits="userSpaceOnUse">'
            f'<rect width="8" height="8" fill="{paint}" fill-opacity=".25"/>'
            f'<path d="{HATCHES[mark.group % len(HATCHES)]}" stroke="{paint}" stroke-width="1.8"'
            f' stroke-linecap="round"/></pattern>',
        )


def _clip(style: Style, index: int) -> str:
    return f"{style.prefix}c{index}"


def _entry(entry: Entry, style: Style) -> str:
    """A swatch of each kind of mark, then the name."""
    swatches = "".join(_swatch(mark, entry, style) for mark in entry.marks)
    tooltip = titled(entry.name) if entry.text != entry.name else ""
    place = f'x="{number(entry.left + entry.swatch + 6)}" y="{number(entry.middle + 4)}"'
    text = f'<text {place} font-size="{SIZE:g}">{escaped(entry.text)}</text>'
    return f'<g class="tb-entry">{tooltip}{swatches}{text}</g>'


def _swatch(mark: Mark, entry: Entry, style: Style) -> str:
    left, middle, width = entry.left, entry.middle, entry.swatch
    box = f'x="{number(left)}" y="{number(middle - 5)}" width="{width:g}" height="10"'
    across = f'd="M{number(left)} {number(middle)}h{width:g}"'
    centre = f'x="{number(left + width / 2)}" y="{number(middle)}"'
    match mark:
        case Points():
            shape = symbol_id(style, mark.group, mark.weight, mark.crosses)
            paint = point_paint(mark.group, mark.weight, mark.hollow, mark.crosses)
            return f'<g {paint}><use href="#{shape}" {centre}/></g>'
        case Intervals():
            shape = symbol_id(style, mark.group, "plain", False)
            line = f'<path stroke="{colour(mark.group)}" stroke-width="1.5" {across}/>'
            return f'<g fill="{colour(mark.group)}">{line}<use href="#{shape}" {centre}/></g>'
        case Line():
            return f"<path {line_paint(mark, style)} {across}/>"
        case Rule():
            return f"<path {rule_paint(mark, style)} {across}/>"
        case Band():
            return f'<rect {box} fill="{colour(mark.group)}" fill-opacity=".17"/>'
        case Bars():
            return f"<rect {box} {bar_paint(mark.group, style)}/>"
        case _:
            return ""


def _panel(placed: Placed, style: Style, index: int) -> str:
    clip = _clip(style, index)
    pieces = [
        frame_svg(placed),
        *(mark_svg(mark, placed.plot, style, clip) for mark in placed.panel.marks),
    ]
    return '<g class="tb-panel">\n' + "\n".join(piece for piece in pieces if piece) + "\n</g>"
