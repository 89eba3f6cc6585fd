"""Pictures of instability and its remedies: rates, curves, and results over fresh seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tunebook.charts.curves import line_of
from tunebook.charts.figures import Axis, Figure, Intervals, Line, Mark, Panel, Points, Rule
from tunebook.charts.ranges import value_axis
from tunebook.charts.wording import limited
from tunebook.core.evidence import Reading
from tunebook.core.findings import Question
from tunebook.core.representation import number, one_line
from tunebook.procedures.edge import Edge
from tunebook.procedures.remedies import Comparison
from tunebook.procedures.subjects import Subject
from tunebook.stats.samples import mean_interval

_LINE_POINTS: Final = 400


def rates(edge: Edge) -> tuple[Figure, ...]:
    """Results against the learning rate, with the rates at which training is unstable."""
    readings = [(rate, r) for rate, found in edge.sweep.readings.items() for r in found]
    measured = [(rate, r.value) for rate, r in readings if r.value is not None]
    if not measured:
        return ()
    x, y = (np.array(column, dtype=float) for column in zip(*measured, strict=True))
    steady = np.array([rate not in edge.trouble for rate, _ in measured])
    worst = float(np.max(y))
    lost = np.array([rate for rate, r in readings if r.value is None])
    marks: list[Mark] = [
        Points(x[steady], y[steady], 0, "stable"),
        Points(x[~steady], y[~steady], 1, "unstable", hollow=True),
        Points(lost, np.full(len(lost), worst), 1, "no result", crosses=True),
    ]
    marks += [Rule(edge.best, "x", f"best, {number(edge.best)}")] if edge.best else []
    marks += (
        [Rule(edge.unstable, "x", f"unstable, {number(edge.unstable)}", dashed=False)]
        if edge.unstable
        else []
    )
    rows = [
        (number(rate), str(r.number), number(r.value), edge.trouble.get(rate, "stable"))
        for rate, r in readings
    ]
    table, cut = limited(("learning rate", "trial", "result", "training"), rows)
    return (
        Figure(
            "probe-edge",
            "Results by learning rate",
            _edge_sentence(edge),
            (
                Panel(
                    Axis("learning rate", "log"),
                    value_axis("result", y),
                    tuple(m for m in marks if not isinstance(m, Points) or len(m.x)),
                ),
            ),
            table,
            cut,
        ),
    )


def curves(
    subject: Subject, question: Question, tried: Sequence[tuple[str, Sequence[Reading]]]
) -> tuple[Figure, ...]:
    """The training loss of what was tried, a colour for each."""
    metric = str(subject.knobs.train_loss)
    marks: list[Mark] = []
    values: list[float] = []
    rows = []
    for group, (name, readings) in enumerate(tried):
        for index, reading in enumerate(readings):
            curve = reading.curve(metric)
            if curve is None:
                continue
            x, y = line_of(curve, _LINE_POINTS)
            label = f"trial {reading.number}, {name}"
            marks.append(Line(x, y, group, name if index == 0 else "", label))
            values += [float(value) for value in y]
            rows.append((name, str(reading.number), number(float(curve.values[-1]))))
    if not marks:
        return ()
    table, cut = limited(("tried", "trial", f"last {one_line(metric)}"), rows)
    sentence = f"{one_line(metric)} at every logged step: {', '.join(name for name, _ in tried)}."
    panel = Panel(Axis("step"), value_axis(one_line(metric), values), tuple(marks))
    title = "Training with and without trouble"
    return (Figure(question.key, title, sentence, (panel,), table, cut),)


def strip(question: Question, found: Comparison) -> tuple[Figure, ...]:
    """Results over fresh seeds without and with the remedy, and their means."""
    marks: list[Mark] = []
    rows = []
    for place, (name, values) in enumerate((("without", found.before), ("with", found.after))):
        if not values:
            continue
        y = np.array(values)
        marks.append(Points(np.full(len(y), float(place)), y, place, name))
        rows += [(name, number(value)) for value in values]
        interval = mean_interval(y)
        if interval is not None:
            at = np.array([place + 0.15])
            middle, low, high = (
                np.array([end]) for end in (interval.estimate, interval.low, interval.high)
            )
            marks.append(Intervals(at, middle, low, high, place, f"mean {name}, 95%"))
    if not marks:
        return ()
    table, cut = limited(("arm", found.metric.name), rows)
    axis = Axis("", "category", categories=("without", "with"))
    every = [*found.before, *found.after]
    panel = Panel(axis, value_axis(one_line(found.metric.name), every), tuple(marks))
    return (
        Figure(question.key, "Over fresh seeds", f"{found}.".capitalize(), (panel,), table, cut),
    )


def _edge_sentence(edge: Edge) -> str:
    best = f"{number(edge.best)} is best" if edge.best is not None else "none works"
    rates = edge.sweep.values
    tried = f"From {number(rates[0])} to {number(rates[-1])}, {best}"
    if edge.unstable is None:
        return f"{tried}, and none above it is unstable."
    return f"{tried}; from {number(edge.unstable)} on training is unstable."
