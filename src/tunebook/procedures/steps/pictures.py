"""The pictures of steps: how many each learning rate needed, and the curves of the best."""

from __future__ import annotations

import math

import numpy as np

from tunebook.charts.figures import Axis, Figure, Mark, Panel, Points, Rule
from tunebook.charts.selection import INFEASIBLE
from tunebook.charts.wording import limited, sentences
from tunebook.core.evidence import Reading
from tunebook.core.findings import Question
from tunebook.core.representation import counted, number, one_line
from tunebook.procedures.pictures import curves_panel
from tunebook.procedures.steps.fitted import Fitted
from tunebook.procedures.steps.fitting import fitted


def picture(question: Question, found: Fitted) -> tuple[Figure, ...]:
    """Steps against the learning rate, and the metric of the best rate and its neighbours."""
    made, fit = found.sweep, found.fit
    every = [(v, r, _steps(r, found)) for v, several in made.readings.items() for r in several]
    done = [(v, steps) for v, _, steps in every if math.isfinite(steps)]
    lost = [(v, r) for v, r, steps in every if not math.isfinite(steps)]
    if not every:
        return ()
    marks: list[Mark] = []
    if done:
        x, y = np.array(done).T
        marks.append(Points(x, y, 0, "fitted", tuple(f"{n:,.0f} steps" for n in y)))
    if lost:
        at = np.array([v for v, _ in lost])
        top = np.full(len(lost), float(found.most))
        labels = tuple(one_line(r.why) or "not fitted" for _, r in lost)
        marks.append(Points(at, top, INFEASIBLE, "not fitted", labels, crosses=True))
    if made.best is not None:
        marks.append(Rule(made.best, "x", f"{found.leads}, {number(made.best)}"))
    first = Panel(
        Axis(one_line(made.parameter), "log"),
        Axis("steps to fit the training set", low=0.0, high=1.05 * found.most),
        tuple(marks),
        "Steps needed",
    )
    panels = [first, *_curves(found)]
    rows = [
        (number(v), number(steps) if math.isfinite(steps) else "not fitted", r.why)
        for v, r, steps in every
    ]
    table, cut = limited((made.parameter, "steps", "why"), rows)
    counts = f"{counted(len(done), 'trial')} of {len(every)} fit the training set"
    lowest = "" if made.best is None or found.leads != "lowest" else _lowest(made.best, found)
    sentence = sentences(f"{counts} ({fit.words}) within {found.most:,} steps.", lowest)
    title = "Steps to fit the training set"
    return (Figure(question.key, title, sentence, tuple(panels), table, cut),)


def _lowest(rate: float, found: Fitted) -> str:
    return f"The lowest {found.fit.metric} at the end is that of {number(rate)}."


def _steps(reading: Reading, found: Fitted) -> float:
    reached = fitted(reading, found.fit)
    return math.inf if reached is None else reached.until


def _curves(found: Fitted) -> list[Panel]:
    made = found.sweep
    if made.best is None:
        return []
    at = made.values.index(made.best)
    near = [made.best, *made.values[max(at - 1, 0) : at], *made.values[at + 1 : at + 2]]
    groups = {f"{made.parameter} {number(value)}": made.readings[value] for value in near}
    metric = found.fit.metric
    panel = curves_panel(
        groups, metric, title=f"{one_line(metric)} of the {found.leads} and its neighbours"
    )
    return [] if panel is None else [panel]
