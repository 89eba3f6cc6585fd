"""At which step the best result was seen, in shares of the budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tunebook.charts.figures import Axis, Bars, Figure, Panel, Rule
from tunebook.charts.wording import limited, sentences
from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence, Standing
from tunebook.core.representation import counted, number

# Always before the first: far too many steps. Mostly after the second: too few.
EARLY, LATE = 0.10, 0.75
BINS = 20
_BEST_SHARE = 4


def best_steps(evidence: Evidence) -> Figure | None:
    """A histogram over trials with a result; None where no step is known."""
    budget = _budget(evidence)
    shares = _shares(evidence, budget)
    if not len(shares):
        return None
    best, others, ranges = _bars(shares)
    rules = (Rule(100 * EARLY, "x", "10%"), Rule(100 * LATE, "x", "75%"))
    counts = zip(ranges, best.top, others.top, strict=True)
    table, cut = limited(
        ("share of the budget", "best quarter", "all trials"),
        [(where, f"{inner:.0f}", f"{outer:.0f}") for where, inner, outer in counts],
    )
    unit = evidence.study.knobs.steps_unit
    left = len(evidence.only(Standing.CENSORED))
    return Figure(
        "best-step",
        "When the best result was seen",
        _sentence(shares, budget, unit),
        (
            Panel(
                Axis(f"share of the {number(budget)} {unit}, %"),
                Axis("trials", low=0.0),
                (best, others, *rules),
            ),
        ),
        table,
        sentences(f"{counted(left, 'trial')} stopped early, and left out." if left else "", cut),
    )


def _budget(evidence: Evidence) -> float:
    """The steps of a trial: as the study says, or as many as the longest trial made."""
    budget = evidence.study.budget
    if budget is not None and budget.unit == "steps":
        return budget.amount
    metric = evidence.objective.metric.name
    curves = [curve for r in evidence.readings if (curve := r.curve(metric)) is not None]
    return float(max((curve.steps[-1] for curve in curves), default=0))


def _shares(evidence: Evidence, budget: float) -> Floats:
    """The best step of each measured trial, best trial first, whatever the reduction is."""
    best = replace(evidence.objective, reduction="best")
    steps = [
        found.step
        for reading in evidence.ranked
        if (found := best.measure(reading.record.curves)) is not None
    ]
    return np.array(steps, dtype=np.float64) / budget if budget > 0 else np.array([])


def _bars(shares: Floats) -> tuple[Bars, Bars, list[str]]:
    """The best quarter of the trials, all others on top of it, and the bins in words."""
    edges = np.linspace(0.0, max(1.0, float(shares.max())), BINS + 1)
    best = shares[: max(len(shares) // _BEST_SHARE, 1)]
    inner, outer = (np.histogram(part, edges)[0].astype(np.float64) for part in (best, shares))
    left, right = 100 * edges[:-1], 100 * edges[1:]
    ranges = [f"{low:.0f}-{high:.0f}%" for low, high in zip(left, right, strict=True)]
    labels = tuple(
        f"{where}: {counted(int(count), 'trial')}"
        for where, count in zip(ranges, outer, strict=True)
    )
    return (
        Bars(left, right, inner, np.zeros(BINS), 0, "best quarter", labels),
        Bars(left, right, outer, inner, 1, "other trials", labels),
        ranges,
    )


def _sentence(shares: Floats, budget: float, unit: str) -> str:
    early, late = int(np.sum(shares <= EARLY)), int(np.sum(shares >= LATE))
    return (
        f"Of {counted(len(shares), 'trial')}, {early} had their best result in the first 10% of "
        f"the {number(budget)} {unit} and {late} in the last 25%; the best trial had it at "
        f"{100 * shares[0]:.0f}%."
    )
