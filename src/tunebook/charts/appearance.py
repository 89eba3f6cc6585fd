"""What groups look like: a colour, and always a second channel beside it.

The colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which people with any
kind of colour vision tell apart. The light ones are darkened until each has a contrast of 3:1
on white and on #111, which WCAG 2.2 asks of graphics; black gives way to grey.
"""

from __future__ import annotations

from typing import Final

from tunebook.charts.figures import Bars, Figure, Line, Rule

COLOURS: Final = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#B98000",
    "#3391CC",
    "#8A8200",
    "#7F7F7F",
)
# The same hues for a dark ground.
ON_DARK: Final = (
    "#4BA6E0",
    "#F2803A",
    "#1FC297",
    "#E59CC5",
    "#E69F00",
    "#8AD0F5",
    "#D8CF3A",
    "#A8A8A8",
)
# Paths of about the same area around the origin, and the names that matplotlib has for them.
SHAPES: Final = (
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0 3.4 3.4 0 1 0-6.8 0z",
    "M-3-3H3V3H-3z",
    "M0-4.2 3.9 2.8H-3.9z",
    "M0-4.3 4.3 0 0 4.3-4.3 0z",
    "M0 4.2 3.9-2.8H-3.9z",
    "M-1.3-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4V-1.3H-1.3z",
    "M-4.2 0 2.8-3.9V3.9z",
    "M0-4.2 4 -1.3 2.5 3.4H-2.5L-4-1.3z",
)
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "<", "p")
CROSS: Final = "M-3.3-3.3 3.3 3.3M-3.3 3.3 3.3-3.3"
# The first is solid, and so is the last: grey is for the many lines behind the others. A line that
# is `dashed` of itself has its own pattern.
DASHES: Final = ((), (7, 3), (2, 2.5), (9, 3, 2, 3), (14, 4), (5, 2, 1.5, 2, 1.5, 2), (3, 1.5), ())
DASHED: Final = (4, 4)
RULE_DASHES: Final = ((5, 4), (1.5, 3), (9, 3, 1.5, 3), (12, 4))
# Strokes of a hatch in a square of 8 by 8, and the names that matplotlib has for them.
HATCHES: Final = (
    "",
    "M-2 2 2-2M0 8 8 0M6 10 10 6",
    "M0 4H8",
    "M2 2h0M6 6h0",
    "M-2 6 2 10M0 0 8 8M6-2 10 2",
    "M4 0V8",
    "M0 4H8M4 0V8",
)
HATCH_NAMES: Final = ("", "///", "--", "..", "\\\\\\", "||", "++")


def colour(group: int) -> str:
    """The colour of a group; a page may set the variable.

    >>> colour(0)
    'var(--tb-1,#0072B2)'
    """
    return f"var(--tb-{group % len(COLOURS) + 1},{COLOURS[group % len(COLOURS)]})"


def stylesheet() -> str:
    """What a page adds to its styles so that drawings follow the reader's light or dark scheme.

    A page that lets its reader choose sets the same variables, and `--tb-ground` to its ground.
    """
    light = _variables(COLOURS, "#ffffff")
    dark = _variables(ON_DARK, "#111111")
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def _variables(colours: tuple[str, ...], ground: str) -> str:
    groups = "".join(f"--tb-{i}:{value};" for i, value in enumerate(colours, start=1))
    return f"{groups}--tb-ground:{ground}"


def dashes(group: int, dashed: bool, several: bool) -> tuple[float, ...]:
    """The dashes of a line; groups differ by them only where a figure has several."""
    if dashed:
        return DASHED
    return DASHES[group % len(DASHES)] if several else ()


def rule_dashes(rule: Rule, names: tuple[str, ...]) -> tuple[float, ...]:
    """The dashes of a rule, by its place among the names of a figure's dashed rules."""
    if not rule.dashed:
        return ()
    return RULE_DASHES[names.index(rule.name) % len(RULE_DASHES)] if rule.name in names else (5, 4)


def rule_names(figure: Figure) -> tuple[str, ...]:
    """The names of a figure's dashed rules, in order."""
    marks = (mark for panel in figure.panels for mark in panel.marks)
    names = (mark.name for mark in marks if isinstance(mark, Rule) and mark.dashed)
    return tuple(dict.fromkeys(names))


def several_groups(figure: Figure, kind: type[Line] | type[Bars]) -> bool:
    """Whether the lines, or the bars, of a figure are of several groups."""
    marks = (mark for panel in figure.panels for mark in panel.marks)
    return len({mark.group for mark in marks if isinstance(mark, kind)}) > 1
