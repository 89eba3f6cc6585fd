"""The norm of the gradient: by step, and as a histogram with its 90th percentile."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tunebook.charts.curves import LINE_POINTS, MOST_LINES, step_label
from tunebook.charts.figures import Axis, Band, Bars, Figure, Line, Panel, Rule
from tunebook.charts.ranges import LARGEST, value_axis
from tunebook.charts.selection import BEST_CURVES, BEST_LINES, MANY, spread, tooltip
from tunebook.charts.thinning import thin
from tunebook.charts.wording import limited, sentences
from tunebook.core.curves import Curve, Floats
from tunebook.core.evidence import Evidence, Reading
from tunebook.core.representation import counted, number

# What the norm is called where the study does not say.
USUAL_NAME = "grad_norm"
COLUMNS = 100
BINS = 40
FEW_POINTS = 200
_LEVELS = (0.1, 0.5, 0.9)
_PERCENTILES = (1, 10, 25, 50, 75, 90, 99, 100)


def norm_by_step(evidence: Evidence) -> Figure | None:
    """The norm of the best few trials, over a band of all measured ones."""
    curves = _curves(evidence)
    if not curves:
        return None
    band, rows = _band([curve for _, curve in curves])
    # Long curves of noise would cover one another.
    best = curves[:1] if max(len(curve) for _, curve in curves) > FEW_POINTS else curves
    lines = [
        _line(evidence, reading, curve, group)
        for group, (reading, curve) in zip(BEST_LINES, best, strict=False)
    ]
    pooled = np.concatenate([curve.values for _, curve in curves])
    axis = value_axis("gradient norm", pooled)
    table, cut = limited((step_label(evidence), "10%", "median", "90%"), spread(rows, 25))
    return Figure(
        "gradient-norm",
        "Gradient norm by step",
        _peak(curves),
        (Panel(Axis(step_label(evidence)), axis, (*band, *lines)),),
        table,
        sentences("The band holds 80% of the norms in each column of steps.", _kept(evidence), cut),
    )


def norm_histogram(evidence: Evidence) -> Figure | None:
    """How the norms are distributed: the 90th percentile is a first clipping threshold."""
    curves = _curves(evidence)
    norms = _usable(np.concatenate([c.values for _, c in curves])) if curves else np.array([])
    if not len(norms):
        return None
    bars = _bars(norms)
    ninetieth = float(np.quantile(norms, 0.9))
    clipping = _clipping(evidence, curves[0][0])
    rules = [Rule(ninetieth, "x", f"90% below {number(ninetieth)}")]
    if clipping is not None:
        rules.append(Rule(clipping, "x", f"clipping of the best {number(clipping)}", dashed=False))
    at = np.percentile(norms, _PERCENTILES)
    rows = [(str(p), number(float(norm))) for p, norm in zip(_PERCENTILES, at, strict=True)]
    table, cut = limited(("percentile", "norm"), rows)
    return Figure(
        "gradient-histogram",
        "Distribution of the gradient norm",
        _distribution(norms, curves[0], clipping),
        (
            Panel(
                Axis("gradient norm", "log" if bars.left[0] > 0 else "linear"),
                Axis("share of the steps, %", low=0.0),
                (bars, *rules),
            ),
        ),
        table,
        sentences(_kept(evidence), cut),
    )


def _curves(evidence: Evidence) -> list[tuple[Reading, Curve]]:
    """The norms of measured trials, best trial first; infeasible ones would only show blow-ups."""
    name = evidence.study.knobs.grad_norm or USUAL_NAME
    found = [(r, curve) for r in evidence.ranked if (curve := r.curve(name)) is not None]
    finite = [(r, curve) for r, curve in found if len(_usable(curve.values))]
    return [*finite[:BEST_CURVES], *spread(finite[BEST_CURVES:], MOST_LINES)]


def _kept(evidence: Evidence) -> str:
    known = len(evidence.ranked)
    most = MOST_LINES + BEST_CURVES
    return f"Of {known} measured trials an even spread of {most} is used." if known > most else ""


def _band(curves: Sequence[Curve]) -> tuple[tuple[Band, Line], list[tuple[str, ...]]]:
    """Quantiles of all norms in each column of steps."""
    steps = np.concatenate([curve.steps for curve in curves]).astype(np.float64)
    values = np.concatenate([curve.values for curve in curves])
    usable = np.abs(values) <= LARGEST
    steps, values = steps[usable], values[usable]
    edges = np.linspace(steps.min(), steps.max(), COLUMNS + 1)
    column = np.clip(np.searchsorted(edges, steps, side="right") - 1, 0, COLUMNS - 1)
    order = np.argsort(column, kind="stable")
    _, starts = np.unique(column[order], return_index=True)
    x = np.array([np.mean(part) for part in np.split(steps[order], starts[1:])])
    parts = np.split(values[order], starts[1:])
    low, middle, high = np.array([np.quantile(part, _LEVELS) for part in parts]).T
    rows = [
        tuple(number(float(cell)) for cell in row) for row in zip(x, low, middle, high, strict=True)
    ]
    return (Band(x, low, high, MANY, "80% of norms"), Line(x, middle, MANY, "median")), rows


def _line(evidence: Evidence, reading: Reading, curve: Curve, group: int) -> Line:
    kept = thin(curve.steps.astype(np.float64), curve.values, LINE_POINTS)
    name = f"trial {reading.number}"
    return Line(kept.x, kept.y, group, name, tooltip(evidence, reading), "strong")


def _peak(curves: Sequence[tuple[Reading, Curve]]) -> str:
    peaks = [float(np.nanmax(_finite(curve.values))) for _, curve in curves]
    at = int(np.argmax(peaks))
    reading, curve = curves[at]
    step = int(curve.steps[np.nanargmax(_finite(curve.values))])
    middle = float(np.nanmedian(_finite(curves[0][1].values)))
    best = f"The best trial, {curves[0][0].number}, has a median gradient norm of {number(middle)}"
    return (
        f"{best}; the largest norm of {counted(len(curves), 'trial')}, {number(peaks[at])}, "
        f"is that of trial {reading.number} at step {step}."
    )


def _distribution(norms: Floats, best: tuple[Reading, Curve], clipping: float | None) -> str:
    middle, ninetieth = np.quantile(norms, [0.5, 0.9])
    text = f"Half of the gradient norms lie below {number(middle)}, 90% below {number(ninetieth)}."
    if clipping is None:
        return text
    share = float(np.mean(_usable(best[1].values) > clipping))
    clipped = f"The best trial is clipped at {number(clipping)}"
    return f"{text} {clipped}, which {share:.0%} of its norms exceed."


def _clipping(evidence: Evidence, reading: Reading) -> float | None:
    """The threshold at which a trial clips its gradients, where the study says which it is."""
    value = reading.record.trial.config.get(evidence.study.knobs.clipping or "")
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if usable and value else None


def _bars(norms: Floats) -> Bars:
    """The share of norms in each bin, in percent."""
    edges = _edges(norms)
    counts, _ = np.histogram(norms, edges)
    share = 100 * counts / len(norms)
    ranges = [f"{number(a)} to {number(b)}" for a, b in itertools.pairwise(edges)]
    labels = tuple(f"{r}: {s:.2g}%" for r, s in zip(ranges, share, strict=True))
    return Bars(edges[:-1], edges[1:], share, np.zeros(len(share)), labels=labels)


def _edges(norms: Floats) -> Floats:
    """Bins of equal width on a log scale where norms are positive; one bin for a single value."""
    low, high = float(norms.min()), float(norms.max())
    edges = np.geomspace(low, high, BINS + 1) if low > 0 else np.linspace(low, high, BINS + 1)
    if np.all(np.diff(edges) > 0):
        return edges
    room = 0.05 * abs(low) or 1.0
    return np.array([low - room, high + room])


def _usable(values: Floats) -> Floats:
    return values[np.abs(values) <= LARGEST]


def _finite(values: Floats) -> Floats:
    return np.where(np.abs(values) <= LARGEST, values, np.nan)
