"""Words and tables of figures: counts, lists of names, and rows that stay few."""

from __future__ import annotations

from collections.abc import Sequence

from tunebook.charts.figures import Table
from tunebook.core.domains import Value
from tunebook.core.objective import Objective
from tunebook.core.representation import number, one_line, value_text

MOST_ROWS = 50


def interval(low: Value, high: Value) -> str:
    """The ends of a range.

    >>> interval(0.1, 0.25), interval(3, 3)
    ('0.1 to 0.25', '3')
    """
    one, other = value_text(low), value_text(high)
    return one if one == other else f"{one} to {other}"


def change(one: float, other: float) -> str:
    """By how much two values differ, never as a spurious zero."""
    return number(abs(one - other))


def sentences(*parts: str) -> str:
    """The parts that say something, one after another."""
    return " ".join(part for part in parts if part)


def limited(
    columns: Sequence[str], rows: Sequence[Sequence[str]], most: int = MOST_ROWS
) -> tuple[Table, str]:
    """A table of the first rows, and a note where there are more."""
    note = f"The table has {most} of {len(rows)} rows." if len(rows) > most else ""
    return Table(tuple(columns), tuple(tuple(row) for row in rows[:most])), note


def metric_label(objective: Objective) -> str:
    """The objective on an axis.

    >>> from tunebook.core.objective import Metric
    >>> metric_label(Objective(Metric("error"), "last"))
    'last error (lower is better)'
    """
    over = f" {objective.over}" if objective.reduction == "mean" else ""
    metric = objective.metric
    return f"{objective.reduction}{over} {one_line(metric.name)} ({metric.better} is better)"
