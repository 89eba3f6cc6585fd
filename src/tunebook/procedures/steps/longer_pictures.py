"""The picture of longer training: every seed's result against its steps, and their means."""

from __future__ import annotations

import numpy as np

from tunebook.charts.figures import Axis, Figure, Line, Mark, Panel, Points, Rule, Table
from tunebook.charts.ranges import value_axis
from tunebook.core.representation import number, one_line
from tunebook.procedures.steps.longer import FACTORS, Longer
from tunebook.procedures.steps.longer_words import LONGER


def picture(made: Longer) -> tuple[Figure, ...]:
    """Results against steps; none where fewer than two lengths have results."""
    results = {
        rung.steps: [r.value for r in rung.readings if r.value is not None] for rung in made.rungs
    }
    known = {steps: values for steps, values in results.items() if values}
    if len(known) < 2:
        return ()
    pairs = [(float(steps), value) for steps, values in known.items() for value in values]
    x, y = np.array(pairs).T
    means = np.array([float(np.mean(values)) for values in known.values()])
    lengths = np.array([float(steps) for steps in known])
    marks: list[Mark] = [
        Points(x, y, 0, "trial", tuple(map(number, y))),
        Line(lengths, means, 1, "mean"),
    ]
    if made.is_known:
        marks.append(Rule(float(made.steps), "x", f"enough, {made.steps:,} steps"))
    label = one_line(made.metric.name)
    axis = value_axis(f"{label} ({made.metric.better} is better)", y)
    rows = []
    for place, rung in enumerate(made.rungs):
        gain = made.gain(place - 1, place) if place else None
        mean = number(float(np.mean(known[rung.steps]))) if rung.steps in known else ""
        told = (number(gain.mean), number(gain.error)) if gain is not None else ("", "")
        rows.append((f"{rung.steps:,}", str(len(results[rung.steps])), mean, *told))
    return (
        Figure(
            LONGER.key,
            "Longer training of the study's own",
            f"Each point is a trial of the study's own configuration, from the first guess of "
            f"{made.guess:,} steps to {FACTORS[len(made.rungs) - 1]} times as many.",
            (Panel(Axis("steps of the training", "log"), axis, tuple(marks)),),
            Table(("steps", "trials", f"mean {label}", "gain", "standard error"), tuple(rows)),
            "The gain is that over the line before, on the same seeds.",
        ),
    )
