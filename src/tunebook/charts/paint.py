"""How marks are painted in SVG: attributes, ids of what is shared, numbers and tooltips."""

from __future__ import annotations

from dataclasses import dataclass

from tunebook.charts.appearance import HATCHES, SHAPES, colour, dashes, rule_dashes
from tunebook.charts.figures import Line, Rule, Weight
from tunebook.charts.labels import escaped

_WIDTHS: dict[Weight, str] = {"strong": "2.4", "plain": "1.6", "faint": "1"}
_LINE_OPACITY: dict[Weight, str] = {"strong": "1", "plain": ".95", "faint": ".4"}
POINT_OPACITY: dict[Weight, str] = {"strong": "1", "plain": ".9", "faint": ".45"}


@dataclass(frozen=True, slots=True)
class Style:
    """What marks of one figure share: the prefix of its ids, and which channels are needed.

    `rules` are the names of its dashed rules, in order.
    """

    prefix: str
    line_groups: bool
    bar_groups: bool
    rules: tuple[str, ...] = ()


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


def rule_paint(mark: Rule, style: Style) -> str:
    """The attributes of a rule: the colour of the text, so that it belongs to no group."""
    pattern = rule_dashes(mark, style.rules)
    dash = f' stroke-dasharray="{" ".join(map(str, pattern))}"' if pattern else ""
    return f'fill="none" stroke="currentColor" stroke-opacity=".65" stroke-width="1.2"{dash}'
