"""Pictures of batch sizes: throughput and time per step, and steps to a goal."""

from __future__ import annotations

import math

import numpy as np

from tunebook.charts.figures import Axis, Band, Figure, Intervals, Line, Mark, Panel, Points, Rule
from tunebook.charts.wording import limited
from tunebook.core.representation import number
from tunebook.procedures.batch_size.throughput_words import (
    bytes_text,
    rate_text,
    seconds_text,
    size_text,
)
from tunebook.procedures.batch_size.to_goal import AtSize, Reached
from tunebook.procedures.batch_size.tried import Fate, Tried, Trying
from tunebook.stats.critical_batch import BatchScaling
from tunebook.stats.throughput import AffineTime

_PLACES = 60


def throughput(
    trying: Trying, line: AffineTime | None, recommended: int | None
) -> tuple[Figure, ...]:
    """Examples per second and time per step by batch size; nothing where none was timed."""
    timed = [tried for tried in trying.fitting if tried.times is not None]
    columns = ("batch size", "time per step", "spread", "examples per second", "memory", "steps")
    table, cut = limited(columns, [_row(tried) for tried in trying.tried])
    if not timed:
        return ()
    x = Axis("batch size", "log")
    rates, times = (_measured(timed, of) for of in ("rate", "time"))
    failed = [float(t.size) for t in trying.tried if t.fate is not Fate.FITS]
    rules: list[Mark] = []
    if recommended is not None:
        rules.append(Rule(float(recommended), "x", f"recommended, {size_text(recommended)}"))
    if failed:
        rules.append(Rule(min(failed), "x", "does not fit", dashed=False))
    drawn: list[list[Mark]] = [[rates, *rules], [times, *rules]]
    if line is not None:
        at = np.geomspace(timed[0].size, timed[-1].size, _PLACES)
        seconds = np.array([line.seconds(size) for size in at])
        drawn[0].insert(0, Line(at, at / seconds, 1, "t0 + t1 B"))
        drawn[1].insert(0, Line(at, 1e3 * seconds, 1, "t0 + t1 B"))
    best = max(timed, key=lambda tried: tried.throughput or 0.0)
    sentence = (
        f"The highest throughput is {rate_text(best.throughput or 0.0)} examples per second, at a "
        f"batch size of {size_text(best.size)}; a step there takes {_time(best)}."
    )
    return (
        Figure(
            "probe-batch-size",
            "Throughput by batch size",
            sentence,
            (
                Panel(x, Axis("examples per second", "log"), tuple(drawn[0]), "Throughput"),
                Panel(x, Axis("time per step, ms", "log"), tuple(drawn[1]), "Time per step"),
            ),
            table,
            cut,
        ),
    )


def to_goal(reached: Reached) -> tuple[Figure, ...]:
    """Steps and time to the goal by batch size; nothing where it was reached nowhere."""
    met = [one for one in reached.sizes if one.reached]
    if not met:
        return ()
    steps: list[Mark] = [*_seed_marks(reached)]
    fit, soonest = reached.fit, reached.soonest
    if isinstance(fit, BatchScaling):
        at = np.geomspace(met[0].size, met[-1].size, _PLACES)
        found = [fit.steps_at(size) for size in at]
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        steps.insert(0, Band(at, low, high, 1, "95% band"))
        middle = np.array([one.estimate for one in found])
        steps.insert(1, Line(at, middle, 1, "S_min (1 + B_crit / B)"))
        if 0.0 < fit.critical.estimate < math.inf:
            steps.append(Rule(fit.critical.estimate, "x", "critical batch size"))
    x = Axis("batch size", "log")
    panels = [Panel(x, Axis("steps to the goal", "log"), tuple(steps), "Steps")]
    if soonest is not None and isinstance(fit, BatchScaling):
        sizes, totals = np.array(reached.candidates, dtype=float), np.array(soonest.totals)
        time = Points(sizes, totals, 2, "steps x time per step")
        rule = Rule(soonest.size, "x", f"soonest, {size_text(soonest.size)}")
        panels.append(Panel(x, Axis("seconds to the goal", "log"), (time, rule), "Time"))
    table, cut = limited(
        ("batch size", "best learning rate", "steps to goal", "examples", "reached"),
        [_goal_row(one) for one in reached.sizes],
    )
    said = ", ".join(f"{one.steps:,.0f} at {size_text(one.size)}" for one in reached.met)
    return (
        Figure(
            "probe-critical-batch",
            f"Steps to {reached.goal.text}",
            f"Median steps to {reached.goal.text}: {said or 'not known'}.",
            tuple(panels),
            table,
            cut,
        ),
    )


def _measured(timed: list[Tried], what: str) -> Intervals:
    sizes = np.array([float(tried.size) for tried in timed])
    found = [tried.times.median for tried in timed if tried.times is not None]
    middle, low, high = (
        np.array([getattr(one, end) for one in found]) for end in ("estimate", "low", "high")
    )
    labels = tuple(f"{size_text(t.size)}: {_time(t)}, {_rate(t)} a second" for t in timed)
    if what == "time":
        return Intervals(sizes, 1e3 * middle, 1e3 * low, 1e3 * high, 0, "median, 95%", labels)
    return Intervals(sizes, sizes / middle, sizes / high, sizes / low, 0, "median, 95%", labels)


def _seed_marks(reached: Reached) -> list[Mark]:
    every = [(one.size, *crossing) for one in reached.sizes for crossing in one.crossings]
    met = [row for row in every if math.isfinite(row[2])]
    missed = [row for row in every if not math.isfinite(row[2])]
    marks: list[Mark] = []
    for rows, name, crosses in ((met, "seeds", False), (missed, "not reached", True)):
        if rows:
            x = np.array([float(row[0]) for row in rows])
            y = np.array([row[1] if crosses else row[2] for row in rows])
            marks.append(Points(x, np.maximum(y, 1.0), 0, name, crosses=crosses))
    return marks


def _row(tried: Tried) -> tuple[str, ...]:
    if tried.fate is not Fate.FITS:
        return size_text(tried.size), str(tried.fate), "-", "-", "-", "-"
    memory = bytes_text(tried.memory) if tried.memory is not None else "-"
    if tried.times is None:
        return size_text(tried.size), "fits, not timed", "-", "-", memory, "-"
    spread = seconds_text(tried.times.spread)
    steps = str(tried.times.steps)
    return size_text(tried.size), _time(tried), spread, _rate(tried), memory, steps


def _goal_row(one: AtSize) -> tuple[str, ...]:
    above = "unknown" if one.is_unknown else f"above {one.limit:,}"
    steps = f"{one.steps:,.0f}" if one.is_met else above
    examples = f"{one.steps * one.size:,.0f}" if one.is_met else "-"
    edge = {"low": " (lowest tried)", "high": " (highest tried)", None: ""}[one.boundary]
    rate = number(one.sweep.best) + edge
    return size_text(one.size), rate, steps, examples, f"{one.reached} of {len(one.crossings)}"


def _time(tried: Tried) -> str:
    return seconds_text(tried.times.median.estimate) if tried.times is not None else "-"


def _rate(tried: Tried) -> str:
    return rate_text(tried.throughput) if tried.throughput is not None else "-"
