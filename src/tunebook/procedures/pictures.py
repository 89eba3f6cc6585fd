"""Results against a swept parameter, and curves by group: what several probes draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tunebook.charts.curves import ending, line_of
from tunebook.charts.figures import Axis, Line, Mark, Panel, Points, Rule
from tunebook.charts.ranges import value_axis, widened
from tunebook.charts.selection import INFEASIBLE
from tunebook.core.evidence import Reading
from tunebook.core.objective import Metric
from tunebook.core.representation import number, one_line
from tunebook.procedures.sweeps import Sweep

LINE_POINTS: Final = 400


def worst_end(metric: Metric) -> float:
    """The end of an axis at which a result would be worst."""
    return np.inf if metric.better == "lower" else -np.inf


def sweep_panel(
    made: Sweep, label: str, *, bad: float = np.inf, rules: Sequence[Rule] = (), title: str = ""
) -> Panel:
    """A point for each trial that has a result, a cross at the bad end for one without."""
    pairs = [(value, r) for value, found in made.readings.items() for r in found]
    measured = [(value, r) for value, r in pairs if r.value is not None]
    lost = [(value, r) for value, r in pairs if r.value is None]
    x, y = _columns([(value, r.value or 0.0) for value, r in measured])
    marks: list[Mark] = []
    if measured:
        marks.append(Points(x, y, 0, "trial", _labels(measured)))
    if lost:
        at = np.array([value for value, _ in lost])
        ends = np.full(len(lost), bad)
        marks.append(Points(at, ends, INFEASIBLE, "no result", _labels(lost), crosses=True))
    axis = Axis(one_line(made.parameter), "log")
    return Panel(axis, value_axis(one_line(label), y), (*marks, *rules), title)


def curves_panel(
    groups: Mapping[str, Sequence[Reading]], metric: str, *, title: str = ""
) -> Panel | None:
    """The curves of a metric, a colour and a name for each group; the first sets the axis."""
    marks: list[Mark] = []
    first: list[float] = []
    every: list[float] = []
    for group, (name, readings) in enumerate(groups.items()):
        for place, reading in enumerate(readings):
            curve = reading.curve(metric)
            if curve is None:
                continue
            x, y = line_of(ending(curve), LINE_POINTS)
            label = f"trial {reading.number}, {name}"
            marks.append(Line(x, y, group, name if not place else "", label))
            every += y[np.isfinite(y)].tolist()
            first += y[np.isfinite(y)].tolist() if group == 0 else []
    if not marks:
        return None
    axis = widened(value_axis(one_line(metric), first or every), first or every, every)
    return Panel(Axis("step"), axis, tuple(marks), title)


def _labels(pairs: Sequence[tuple[float, Reading]]) -> tuple[str, ...]:
    return tuple(
        f"{number(value)}: {one_line(r.why) if r.value is None else number(r.value)}"
        for value, r in pairs
    )


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([x for x, _ in pairs]), np.array([y for _, y in pairs])
