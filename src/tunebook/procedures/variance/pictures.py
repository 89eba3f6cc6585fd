"""Pictures of the probe of variance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tunebook.charts.figures import Axis, Band, Figure, Intervals, Line, Panel, Points, Rule, Table
from tunebook.core.objective import Metric
from tunebook.core.representation import number, one_line
from tunebook.procedures.variance.scatter import Scatter
from tunebook.procedures.variance.words import SEEDS, SOURCES, VARIANCE
from tunebook.stats.samples import Interval
from tunebook.stats.variance import smallest_difference

_COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 40, 60, 80, 120)


def values_by_source(metric: Metric, scatter: Scatter) -> Figure:
    """Every run, by what was varied, with the standard deviation to either side of the mean."""
    rows = _strips(scatter)
    sds = _sds(scatter)
    names = tuple(rows)
    x = np.concatenate([np.asarray(values) for values in rows.values()])
    y = np.concatenate([np.full(len(v), float(i)) for i, v in enumerate(rows.values())])
    means = np.array([float(np.mean(values)) for values in rows.values()])
    halves = np.array([sds[name].estimate for name in names])
    places = np.arange(float(len(names)))
    marks = (
        Intervals(means, places, means - halves, means + halves, 0, "mean and standard deviation"),
        Points(x, y, 1, "runs", tuple(map(number, x))),
    )
    table = tuple(
        (
            name,
            str(len(rows[name])),
            number(float(np.mean(rows[name]))),
            number(sds[name].estimate),
            number(sds[name].low),
            number(sds[name].high),
        )
        for name in names
    )
    label = one_line(metric.name)
    return Figure(
        VARIANCE.key,
        f"{label} by what was varied",
        _widest(scatter, label),
        (
            Panel(
                Axis(f"{label} ({metric.better} is better)"),
                Axis("", "category", categories=names),
                marks,
            ),
        ),
        Table(("varied", "runs", "mean", "sd", "from", "to"), table),
        "Where one source is varied alone, all other seeds have one value, so that its mean may "
        "differ.",
    )


def seeds_and_differences(metric: Metric, scatter: Scatter, interest: float | None) -> Figure:
    """The smallest difference that so many seeds of each of two configurations show."""
    found: dict[int, Interval] = {}
    for count in _COUNTS:
        visible = smallest_difference(scatter.total, count)
        if visible is not None:
            found[count] = visible
    x = np.array([float(count) for count in found])
    middle, low, high = np.array([(v.estimate, v.low, v.high) for v in found.values()]).T
    label = one_line(metric.name)
    rules = (Rule(interest, "y", f"difference of {number(interest)}"),) if interest else ()
    return Figure(
        SEEDS.key,
        "What so many seeds show",
        f"The smallest difference in {label} that a test of two configurations finds four times in "
        f"five: {number(found[5].estimate)} with 5 seeds of each, "
        f"{number(found[20].estimate)} with 20.",
        (
            Panel(
                Axis("seeds of each configuration", "log"),
                Axis(f"difference in {label}", "log"),
                (
                    Band(x, low, high, 0, "for the interval of the sd"),
                    Line(x, middle, 0, "smallest difference"),
                    *rules,
                ),
            ),
        ),
        Table(
            ("seeds", "difference", "from", "to"),
            tuple(
                (str(n), number(v.estimate), number(v.low), number(v.high))
                for n, v in found.items()
            ),
        ),
    )


def _widest(scatter: Scatter, label: str) -> str:
    """Which source alone moves results most, if any was varied and any does."""
    sds = {SOURCES[k]: part.sd.estimate for k, part in scatter.components.sources.items()}
    if not sds:
        return "Each point is a run with seeds of its own."
    widest = max(sds, key=lambda name: sds[name])
    if sds[widest] == 0:
        return f"Each point is a run. No source that was varied alone moves {label}."
    return f"Each point is a run. Of the sources varied alone, {widest} moves {label} most."


def _strips(scatter: Scatter) -> Mapping[str, tuple[float, ...]]:
    strips = {"everything": scatter.values}
    for knob in scatter.components.sources:
        strips[SOURCES[knob]] = scatter.alone[knob]
    if scatter.pairs:
        # About the mean of all: only how far two equal runs are apart matters.
        middle = scatter.mean.estimate
        halves = [(after - before) / 2 for before, after in scatter.pairs]
        strips["nothing"] = tuple(middle + sign * half for half in halves for sign in (1, -1))
    return strips


def _sds(scatter: Scatter) -> Mapping[str, Interval]:
    total, found = scatter.total, scatter.components
    sds = {"everything": Interval(total.sd, total.low, total.high)}
    sds |= {SOURCES[knob]: part.sd for knob, part in found.sources.items()}
    if found.residual is not None:
        sds["nothing"] = found.residual.sd
    return sds
