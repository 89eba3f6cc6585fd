"""Training curves: all trials faint, the best few on top, validation and training together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tunebook.charts.figures import Axis, Figure, Line, Mark, Panel, Points
from tunebook.charts.ranges import value_axis, widened
from tunebook.charts.selection import (
    BEST_CURVES,
    BEST_LINES,
    INFEASIBLE,
    MANY,
    best_text,
    groups,
    left_out,
    setting_text,
    shown,
    tooltip,
)
from tunebook.charts.thinning import thin
from tunebook.charts.wording import limited, sentences
from tunebook.core.curves import Curve, Floats
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.representation import counted, listed, number, one_line

MOST_LINES = 100
MOST_PANELS = 4
MOST_STRONG = 8
LINE_POINTS = 400
# Faint lines share a number of points, so that many of them do not make a page heavy.
FAINT_POINTS = 10_000
LEAST_POINTS = 60


def training_curves(evidence: Evidence) -> Figure | None:
    """A panel for each of the objective's metric, training loss and error, and a few others."""
    metrics = _metrics(evidence)
    best, others = _chosen(evidence)
    panels = tuple(
        panel
        for metric in metrics[:MOST_PANELS]
        if (panel := _panel(evidence, metric, best, others)) is not None
    )
    if not panels:
        return None
    drawn = metrics[:MOST_PANELS]
    rows = [_row(reading, drawn) for reading in (*best, *others)]
    table, cut = limited(("trial", *(f"last {one_line(metric)}" for metric in drawn)), rows)
    known = sum(bool(reading.record.curves) for reading in evidence.readings)
    more = [one_line(metric) for metric in metrics[MOST_PANELS:]]
    return Figure(
        "curves",
        "Training curves",
        _sentence(evidence, best),
        panels,
        table,
        sentences(
            left_out(len(best) + len(others), known, "trials", len(best)),
            _thinned(panels, evidence, drawn, (*best, *others)),
            f"Also logged: {listed(more, most=4)}." if more else "",
            cut,
        ),
    )


def step_label(evidence: Evidence) -> str:
    unit = evidence.study.knobs.steps_unit
    return "step" if unit == "steps" else unit


def ending(curve: Curve) -> Curve:
    """A curve without what is not finite at its end: where a diverged trial visibly ends."""
    finite = np.flatnonzero(np.isfinite(curve.values))
    return curve.until(int(curve.steps[finite[-1]])) if len(finite) else curve.until(-1)


def line_of(curve: Curve, points: int) -> tuple[Floats, Floats]:
    """A curve in few points; what is not finite breaks the line."""
    y = np.where(np.isfinite(curve.values), curve.values, np.nan)
    kept = thin(curve.steps.astype(np.float64), y, points)
    return kept.x, kept.y


def _metrics(evidence: Evidence) -> tuple[str, ...]:
    knobs = evidence.study.knobs
    logged = {
        name for r in evidence.readings for name, curve in r.record.curves.items() if len(curve)
    }
    bounded = [constraint.metric for constraint in evidence.objective.constraints]
    first = [evidence.objective.metric.name, knobs.train_loss, knobs.train_error, *bounded]
    rest = sorted(logged - {knobs.grad_norm})
    return tuple(name for name in dict.fromkeys([*first, *rest]) if name in logged and name)


def _chosen(evidence: Evidence) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
    """The best trial of each setting, or the best few of one; an even spread of all others."""
    if len(evidence.arms) > 1:
        tops = {arm.best.number for arm in evidence.arms if arm.best is not None}
        best = tuple(r for r in evidence.ranked if r.number in tops)[:MOST_STRONG]
    else:
        best = evidence.ranked[:BEST_CURVES]
    taken = {reading.number for reading in best}
    unmeasured = [r for r in evidence.readings if r.value is None and r.record.curves]
    ranked = [r for r in (*evidence.ranked, *unmeasured) if r.number not in taken]
    _, others = shown(ranked, MOST_LINES, 0)
    return best, others


def _panel(
    evidence: Evidence, metric: str, best: Sequence[Reading], others: Sequence[Reading]
) -> Panel | None:
    drawn = (*best, *others)
    curves = {r.number: ending(c) for r in drawn if (c := r.curve(metric)) is not None}
    if not any(map(len, curves.values())):
        return None
    marks = [
        *_faint(evidence, curves, others),
        *_crosses(evidence, curves, others),
        *_strong(evidence, curves, best),
    ]
    measured = [curves[r.number] for r in drawn if r.value is not None and r.number in curves]
    values = [curve.values for curve in measured or curves.values()]
    inside, every = np.concatenate(values), [curve.values for curve in curves.values()]
    axis = widened(value_axis("", inside), inside, np.concatenate(every))
    return Panel(Axis(step_label(evidence)), axis, tuple(marks), one_line(metric))


def _faint(
    evidence: Evidence, curves: Mapping[int, Curve], readings: Sequence[Reading]
) -> Iterator[Mark]:
    """The many, those that are infeasible last and dashed."""
    place = groups(evidence)
    points = min(max(FAINT_POINTS // max(len(readings), 1), LEAST_POINTS), LINE_POINTS)
    for reading in sorted(readings, key=lambda r: r.standing is Standing.INFEASIBLE):
        if reading.number in curves:
            infeasible = reading.standing is Standing.INFEASIBLE
            group = INFEASIBLE if infeasible else MANY
            if len(place) > 1:
                group = place.get(reading.record.trial.setting, 0)
            x, y = line_of(curves[reading.number], points)
            yield Line(x, y, group, "", tooltip(evidence, reading), "faint", dashed=infeasible)


def _strong(
    evidence: Evidence, curves: Mapping[int, Curve], best: Sequence[Reading]
) -> Iterator[Mark]:
    place = groups(evidence)
    several = len(place) > 1
    for rank, reading in enumerate(best):
        if reading.number in curves:
            setting = reading.record.trial.setting
            name = setting_text(setting) if several else f"trial {reading.number}"
            group = place.get(setting, 0) if several else BEST_LINES[rank]
            x, y = line_of(curves[reading.number], LINE_POINTS)
            yield Line(x, y, group, name, tooltip(evidence, reading), "strong")


def _crosses(
    evidence: Evidence, curves: Mapping[int, Curve], readings: Sequence[Reading]
) -> list[Mark]:
    """Where infeasible trials ended."""
    ended = [
        r
        for r in readings
        if r.standing is Standing.INFEASIBLE and r.number in curves and len(curves[r.number])
    ]
    if not ended:
        return []
    lasts = [curves[reading.number] for reading in ended]
    return [
        Points(
            np.array([curve.steps[-1] for curve in lasts], dtype=np.float64),
            np.array([curve.values[-1] for curve in lasts]),
            INFEASIBLE,
            "infeasible",
            tuple(tooltip(evidence, reading) for reading in ended),
            crosses=True,
        )
    ]


def _sentence(evidence: Evidence, best: Sequence[Reading]) -> str:
    ended = len(evidence.only(Standing.INFEASIBLE))
    ends = "ends in a cross" if ended == 1 else "end in crosses"
    broken = f"{counted(ended, 'infeasible trial')}, dashed, {ends}." if ended else ""
    if not best:
        return sentences("No trial has a result.", broken)
    first = best[0]
    middle = float(np.median([r.value or 0.0 for r in evidence.ranked]))
    metric = evidence.objective.metric.name
    curve = first.curve(metric)
    last = f" and ends at {number(float(curve.values[-1]))}" if curve is not None else ""
    at = f" at step {first.step}" if first.step is not None else ""
    return sentences(
        f"The best, {best_text(evidence)}, has its result{at}{last}; "
        f"the median of {counted(len(evidence.ranked), 'trial')} is {number(middle)}.",
        broken,
    )


def _row(reading: Reading, metrics: Sequence[str]) -> tuple[str, ...]:
    curves = [reading.curve(metric) for metric in metrics]
    lasts = [number(float(c.values[-1])) if c is not None else "-" for c in curves]
    return str(reading.number), *lasts


def _thinned(
    panels: Sequence[Panel],
    evidence: Evidence,
    metrics: Sequence[str],
    readings: Sequence[Reading],
) -> str:
    drawn = sum(len(mark.x) for panel in panels for mark in panel.marks if isinstance(mark, Line))
    logged = sum(len(ending(c)) for m in metrics for r in readings if (c := r.curve(m)) is not None)
    if drawn >= logged:
        return ""
    return (
        f"Lines show {drawn} of {logged} points: first, last, lowest and highest of each stretch."
    )
