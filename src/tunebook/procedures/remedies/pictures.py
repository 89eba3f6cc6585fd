"""Pictures of instability and its remedies: rates, curves, and results over fresh seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tunebook.charts.figures import Axis, Figure, Intervals, Mark, Panel, Points, Rule
from tunebook.charts.ranges import value_axis
from tunebook.charts.selection import INFEASIBLE
from tunebook.charts.wording import limited
from tunebook.core.evidence import Reading
from tunebook.core.findings import Question
from tunebook.core.representation import listed, number, one_line
from tunebook.procedures.pictures import curves_panel, sweep_panel, worst_end
from tunebook.procedures.remedies.comparing import Comparison
from tunebook.procedures.remedies.edge import Edge
from tunebook.stats.samples import mean_interval


def rates(edge: Edge) -> tuple[Figure, ...]:
    """Results against the learning rate, with the best and the first unstable one."""
    rules = [Rule(edge.best, "x", f"best, {number(edge.best)}")] if edge.best else []
    unstable = edge.unstable
    if unstable is not None:
        rules.append(Rule(unstable, "x", f"unstable, {number(unstable)}", dashed=False))
    rows = [
        (number(rate), str(r.number), number(r.value), _said(edge, r))
        for rate, readings in edge.sweep.readings.items()
        for r in readings
    ]
    table, cut = limited(("learning rate", "trial", "result", "training"), rows)
    panel = sweep_panel(edge.sweep, edge.objective.name, bad=worst_end(edge.objective), rules=rules)
    return (
        Figure("probe-edge", "Results by learning rate", _sentence(edge), (panel,), table, cut),
    )


def curves(
    edge: Edge,
    question: Question,
    above: float | None,
    rate: float,
    tried: Mapping[str, Sequence[Reading]],
) -> tuple[Figure, ...]:
    """Trainings without the remedy, and of what was tried at a rate; a colour for each.

    Those without are at the best rate and at one `above` it, which the remedy is to cure.
    """
    best = edge.best
    if edge.metric is None or best is None or (above is None and rate != best):
        return ()
    metric = one_line(edge.metric.name)
    shown = [best] if above is None else [best, above]
    without = {f"{number(r)}, none": edge.sweep.readings[r] for r in shown}
    groups = {**without, **{f"{number(rate)}, {name}": found for name, found in tried.items()}}
    panel = curves_panel(groups, edge.metric.name)
    if panel is None:
        return ()
    rows = [
        (name, str(reading.number), number(float(curve.values[-1])))
        for name, readings in groups.items()
        for reading in readings
        if (curve := reading.curve(edge.metric.name)) is not None
    ]
    table, cut = limited(("learning rate and remedy", "trial", f"last {metric}"), rows)
    kind = "unstable" if above is not None and edge.trouble_at(above) else "worse"
    second = f", and at the first {kind} one, {number(above)}" if above is not None else ""
    sentence = (
        f"{metric} at the best learning rate, {number(best)}{second}, without; then at "
        f"{number(rate)}: {listed(tuple(tried), most=6)}."
    )
    return (Figure(question.key, "Training with and without", sentence, (panel,), table, cut),)


def strip(question: Question, found: Comparison) -> tuple[Figure, ...]:
    """Results over fresh seeds before and after, and their means."""
    marks: list[Mark] = []
    rows = []
    for place, (name, values) in enumerate(
        (("before", found.before.values), ("after", found.after.values))
    ):
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
    lost = np.repeat([0.0, 1.0], [found.before.lost, found.after.lost])
    if len(lost):
        ends = np.full(len(lost), worst_end(found.metric))
        marks.append(Points(lost, ends, INFEASIBLE, "no result", crosses=True))
        names = [("before", "after")[int(place)] for place in lost]
        rows += [(name, "came to nothing") for name in names]
    if not rows:
        return ()
    table, cut = limited(("arm", found.metric.name), rows)
    axis = Axis("", "category", categories=("before", "after"))
    every = [*found.before.values, *found.after.values]
    panel = Panel(axis, value_axis(one_line(found.metric.name), every), tuple(marks))
    return (Figure(question.key, "Over fresh seeds", f"{found}.", (panel,), table, cut),)


def _sentence(edge: Edge) -> str:
    best = f"{number(edge.best)} is best" if edge.best is not None else "none works"
    rates = tuple(edge.sweep.readings)
    tried = f"From {number(rates[0])} to {number(rates[-1])}, {best}"
    if edge.best is not None and edge.trouble_at(edge.best):
        return f"{tried}, and training is unstable there already."
    if edge.unstable is None:
        return f"{tried}, and none above it is unstable."
    return f"{tried}; from {number(edge.unstable)} on training is unstable."


def _said(edge: Edge, reading: Reading) -> str:
    trouble = edge.trouble(reading, edge.steps)
    return "not known" if trouble is None else trouble or "stable"
