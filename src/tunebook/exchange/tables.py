"""Results as tables: a row for each trial, or a row for each logged point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from tunebook.core.curves import Floats, Ints
from tunebook.core.results import RUNNING, Results

What: TypeAlias = Literal["trials", "curves"]

POINT_COLUMNS = ("trial", "metric", "step", "value", "seconds")
# What is known of a trial only when it has ended.
_NOT_YET: dict[str, Any] = {"reason": None, "seconds": None}
# So many points are turned into text, or into a row group, at a time.
MOST = 65536


@dataclass(frozen=True)
class Table:
    """Names of columns, and rows that have a cell for each; None stands for no value."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Piece(NamedTuple):
    """A stretch of one curve; `steps`, `values` and `seconds` are `(n,)`, with n at most `MOST`."""

    trial: int
    metric: str
    steps: Ints
    values: Floats
    seconds: Floats


def trials(results: Results) -> Table:
    """A row for each trial: the columns of `Results.rows`, between the study and its objective."""
    metric = results.study.objective.metric
    rows = [
        {
            "study": results.study.name,
            **row,
            **(_NOT_YET if row["status"] == RUNNING else {}),
            "objective": metric.name,
            "better": metric.better,
        }
        for row in results.rows()
    ]
    # Every table has the same first columns, whether a trial has run or not.
    always = ("study", "trial", "setting", "status", "reason", "value", "step", "objective")
    order = (*always, "better", "attempts", "seconds", "seed")
    columns = tuple(dict.fromkeys([*order, *(name for row in rows for name in row)]))
    return Table(columns, tuple(tuple(row.get(name) for name in columns) for row in rows))


def pieces(results: Results) -> Iterator[Piece]:
    """The points of all trials, in the order of trials, metrics and steps."""
    for record in results:
        for metric, curve in sorted(record.curves.items()):
            for start in range(0, len(curve), MOST):
                part = slice(start, start + MOST)
                yield Piece(
                    record.trial.number,
                    metric,
                    curve.steps[part],
                    curve.values[part],
                    curve.seconds[part],
                )


def count(results: Results) -> int:
    """How many points the curves of all trials have."""
    return sum(len(curve) for record in results for curve in record.curves.values())
