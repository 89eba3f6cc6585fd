"""Does clipping gradients make training stable at higher learning rates, and from which norm on?"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Final

import numpy as np

from tunebook.core.domains import Value, same_value
from tunebook.core.errors import StudyError
from tunebook.core.evidence import Reading
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.procedures.answers import Procedure
from tunebook.procedures.needs import MAX_STEPS, Need
from tunebook.procedures.remedies import clipping_words as words
from tunebook.procedures.remedies.clipping_tried import Cure, Tried
from tunebook.procedures.remedies.comparing import (
    SEEDS,
    Comparison,
    Variant,
    over_seeds,
    rates_up_to,
    tuned,
    with_rate,
)
from tunebook.procedures.remedies.edge import Edge, find_edge, whole_steps
from tunebook.procedures.remedies.edge_words import not_to_be_cured
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import readings_of
from tunebook.stats.instability import gradient_norms

QUESTION: Final = words.QUESTION
NEEDS: Final = (
    Need("learning_rate", "which it sweeps"),
    Need("clipping", "the threshold, which it varies"),
    Need("train_loss", "in which instability shows"),
    Need("grad_norm", "as it is before clipping, from which a threshold follows"),
    Need(MAX_STEPS, "to compare at full length"),
)
# Of the threshold, where trouble stays: each half an order of magnitude smaller.
SHRINKING: Final = (1.0, 0.3, 0.1)
LEAST_STEPS: Final = 40
SHORT_STEPS: Final = 1000
# How far above the best rate clipping is asked to reach.
FURTHER: Final = 10.0
# Norms that stop just at the threshold, in at least this share of the steps, were clipped already.
_STOPS: Final = 0.05


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """Find the edge of stability without clipping, a threshold beyond it, and what that brings."""
    off = no_clipping(subject, options)
    total = whole_steps(subject, "clipping", LEAST_STEPS)
    seeds = int(options.get("seeds") or SEEDS)
    short = min(total, int(options.get("steps") or SHORT_STEPS))
    clip, name = subject.name("clipping"), subject.name("learning_rate")
    edge = yield from find_edge(subject, goal=QUESTION.text, steps=short, fix={clip: off})
    if edge.to_cure is None:
        return not_to_be_cured(subject, QUESTION, edge, "clipping")
    best, unstable = edge.to_cure
    threshold = usual_norm(subject, edge)
    if threshold is None:
        return words.no_norms(subject, edge)
    tried = yield from _thresholds(subject, edge, unstable, threshold, short)
    chosen = next((one for one in tried if one.cures), None)
    if chosen is None:
        return words.not_cured(subject, edge, tried)
    own = subject.value("clipping")
    before = Variant({clip: own}, total)
    rate: float | None = best
    if short < total or not same_value(own, off):
        high = best * (10**0.5 if same_value(own, off) else FURTHER)
        rates = rates_up_to(best, high)
        rate = yield from tuned(subject, "tune-before", before, rates, goal=words.GAIN.text)
    before = with_rate(subject, before, rate or best)
    after = Variant({clip: chosen.threshold}, total)
    rates = rates_up_to(best, FURTHER * best)
    rate = yield from tuned(subject, "tune", after, rates, goal=words.GAIN.text)
    after = with_rate(subject, after, rate or best)
    first = yield from over_seeds(
        subject, "compare-before", before, seeds=seeds, goal=words.GAIN.text
    )
    second = yield from over_seeds(
        subject, "compare-after", after, seeds=seeds, goal=words.GAIN.text
    )
    found = Comparison(subject.study.objective.metric, first, second)
    without = float(before.fix[name] or 0)
    cure = Cure(tried, chosen, rate or best, without, found, None if same_value(own, off) else own)
    return words.cured(subject, edge, cure)


def no_clipping(subject: Subject, options: Mapping[str, Value]) -> Value:
    """The value that means no clipping: `off` if given, else none, which a command may not take."""
    off = options.get("off")
    if off is not None or subject.study.command is None or subject.value("clipping") is None:
        return off
    name = subject.knobs.clipping
    raise StudyError(
        f"the probe clipping begins without clipping, and how a command is told so is not known: "
        f"{name} is {subject.value('clipping')!r}. Say which value of {name} means none, such as "
        f"--off 0; or write '{name}: null' under fixed, if the command takes --{name} null"
    )


def usual_norm(subject: Subject, edge: Edge) -> float | None:
    """The 90th percentile of unclipped norms before any blow-up, at the edge or at the best.

    It is the smaller one: where a training blows up and comes back, its norms are not usual.
    """
    metric = subject.name("grad_norm")
    found = []
    for rate in (edge.unstable, edge.best):
        readings = edge.sweep.readings[rate] if rate is not None else ()
        levels = [
            norms.percentile_90
            for reading in readings
            if (curve := reading.curve(metric)) is not None
            and (norms := gradient_norms(curve.steps, curve.values)) is not None
        ]
        if levels and np.median(levels) > 0:
            found.append(float(np.median(levels)))
    return float(f"{min(found):.2g}") if found else None


def clipped_share(subject: Subject, readings: Sequence[Reading], threshold: float) -> float | None:
    """The share of updates whose norm was above the threshold; None where that was not logged."""
    curves = [reading.curve(subject.name("grad_norm")) for reading in readings]
    logged = [curve.values for curve in curves if curve is not None]
    if not logged:
        return None
    norms = np.concatenate(logged)
    stopped = (norms > 0.999 * threshold) & (norms <= 1.001 * threshold)
    if np.mean(stopped) > _STOPS and not np.any(norms > 1.001 * threshold):
        return None
    # What is not a number was not below the threshold.
    return float(np.mean(~(norms <= threshold)))


def _thresholds(
    subject: Subject, edge: Edge, rate: float, threshold: float, steps: int
) -> Generator[Study, Results, tuple[Tried, ...]]:
    """Thresholds at the unstable rate, smaller and smaller, until one keeps training stable."""
    clip, name = subject.name("clipping"), subject.name("learning_rate")
    tried: list[Tried] = []
    for number, share in enumerate(SHRINKING, 1):
        level = float(f"{share * threshold:.2g}")
        results = yield subject.stage(
            f"threshold-{number}",
            {clip: [level]},
            {name: rate},
            goal=QUESTION.text,
            steps=steps,
            replicates=3,
        )
        readings = readings_of(results)
        why = edge.trouble_in(readings, steps)
        tried.append(Tried(level, readings, why, clipped_share(subject, readings, level)))
        if why == "":
            break
    return tuple(tried)
