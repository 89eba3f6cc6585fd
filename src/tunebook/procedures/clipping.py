"""Does clipping gradients make training stable at higher learning rates, and from which norm on?"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunebook.charts.figures import Figure
from tunebook.core.domains import Value
from tunebook.core.edits import Edit, SetParameter
from tunebook.core.evidence import Reading
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.results import Results
from tunebook.core.space import Fixed
from tunebook.core.study import Study
from tunebook.diagnosis.phrases import percent, shown
from tunebook.procedures import remedy_pictures as pictures
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.edge import Edge, find_edge
from tunebook.procedures.edge import tried as tried_in
from tunebook.procedures.edge_words import edge_finding, not_to_be_cured
from tunebook.procedures.needs import MAX_STEPS, Need
from tunebook.procedures.remedies import (
    Comparison,
    Variant,
    compared,
    rate_edit,
    tuned_again,
)
from tunebook.procedures.subjects import Subject
from tunebook.stats.instability import gradient_norms

QUESTION: Final = Question(
    "probe-clipping",
    "Does clipping make training stable at higher learning rates, and from which norm on?",
    "gradient-clipping",
)
GAIN: Final = Question(
    "probe-clipping-gain", "Is training with clipping better?", "gradient-clipping"
)
NEEDS: Final = (
    Need("learning_rate", "which it sweeps"),
    Need("clipping", "the threshold, which it varies"),
    Need("train_loss", "in which instability shows"),
    Need("grad_norm", "before clipping, from which a threshold follows"),
    Need(MAX_STEPS, "to compare at full length"),
)
# Of the threshold, where trouble stays: each a half order of magnitude smaller.
SHRINKING: Final = (1.0, 0.3, 0.1)
# Where more of the updates are clipped, it is the learning rate that is too high.
MOST_CLIPPED: Final = 0.5
SHORT_STEPS: Final = 1000
# How far above the best rate clipping is asked to reach.
FURTHER: Final = 10.0


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one threshold at the unstable rate."""

    threshold: float
    readings: tuple[Reading, ...]
    trouble: str
    clipped: float

    @property
    def cures(self) -> bool:
        return not self.trouble and self.clipped <= MOST_CLIPPED


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """Find the edge of stability without clipping, a threshold beyond it, and what that brings."""
    total = int(subject.steps or 0)
    seeds = int(options.get("seeds") or 5)
    short = min(total, int(options.get("steps") or SHORT_STEPS))
    clip, rate = str(subject.knobs.clipping), str(subject.knobs.learning_rate)
    edge = yield from find_edge(subject, goal=QUESTION.text, steps=short, fix={clip: None})
    if edge.best is None or edge.unstable is None:
        return not_to_be_cured(QUESTION, edge, "clipping")
    threshold = usual_norm(subject, edge)
    if threshold is None:
        return _no_norms(subject, edge)
    tried = yield from _thresholds(subject, edge, edge.unstable, threshold, short)
    cure = next((one for one in tried if one.cures), None)
    if cure is None:
        return _not_cured(edge, tried)
    variant = Variant({clip: cure.threshold}, total)
    again = yield from tuned_again(
        subject, "tune", variant, edge.best, FURTHER * edge.best, goal=GAIN.text
    )
    best = again.best if again.best is not None else edge.best
    found = yield from compared(
        subject,
        "compare",
        Variant({clip: None, rate: edge.best}, total),
        Variant({**variant.fix, rate: best}, total),
        seeds=seeds,
        goal=GAIN.text,
    )
    return _cured(subject, edge, tried, cure, best, found)


def usual_norm(subject: Subject, edge: Edge) -> float | None:
    """The 90th percentile of unclipped norms before any blow-up, at the edge or at the best."""
    metric = str(subject.knobs.grad_norm)
    for rate in (edge.unstable, edge.best):
        readings = edge.sweep.readings[rate] if rate is not None else ()
        levels = [
            norms.percentile_90
            for reading in readings
            if (curve := reading.curve(metric)) is not None
            and (norms := gradient_norms(curve.steps, curve.values)) is not None
        ]
        if levels:
            return float(f"{np.median(levels):.2g}")
    return None


def _thresholds(
    subject: Subject, edge: Edge, rate: float, threshold: float, steps: int
) -> Generator[Study, Results, tuple[Tried, ...]]:
    """Thresholds at the unstable rate, smaller and smaller, until one keeps training stable."""
    clip, name = str(subject.knobs.clipping), str(subject.knobs.learning_rate)
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
        readings = tried_in(subject, results)
        why = edge.first_trouble(readings, steps)
        tried.append(Tried(level, readings, why, clipped_share(subject, readings, level)))
        if not why:
            break
    return tuple(tried)


def clipped_share(subject: Subject, readings: Sequence[Reading], threshold: float) -> float:
    """The share of updates whose norm was above the threshold."""
    curves = [reading.curve(str(subject.knobs.grad_norm)) for reading in readings]
    norms = np.concatenate([c.values for c in curves if c is not None] or [np.zeros(1)])
    return float(np.mean(~(norms <= threshold)))


def _cured(
    subject: Subject,
    edge: Edge,
    tried: tuple[Tried, ...],
    cure: Tried,
    rate: float,
    found: Comparison,
) -> Answer:
    clip = str(subject.knobs.clipping)
    sentence = (
        f"Training is unstable from a learning rate of {shown(edge.unstable or 0)} on "
        f"({edge.trouble_at(edge.unstable or 0)}). Clipped at {shown(cure.threshold)} it is stable "
        f"there; {percent(cure.clipped)} of the updates are clipped."
    )
    verdict = Verdict.WATCH if found.is_better else Verdict.GOOD
    advice = (
        f"Set {clip} to {shown(cure.threshold)} and tune the learning rate again around "
        f"{shown(rate)}."
        if found.is_better
        else "Training with it is no better than without: keep what you have."
    )
    first = Finding(
        QUESTION,
        verdict,
        sentence,
        advice,
        numbers={"threshold": cure.threshold, "clipped": cure.clipped},
        trials=tuple(r.number for one in tried for r in one.readings),
        method="90th percentile of unclipped norms before any blow-up, smaller while trouble stays",
    )
    gain = Finding(
        GAIN,
        verdict,
        f"At its best learning rate, {shown(rate)}, with clipping against {shown(edge.best or 0)} "
        f"without: {found}.",
        numbers={"p": found.p} if found.p is not None else {},
        method="Welch's one-sided test over fresh seeds, at 2.5%",
    )
    edits: list[Edit] = []
    if found.is_better:
        because = "the 90th percentile of unclipped gradient norms, made smaller where needed"
        edits.append(SetParameter(clip, Fixed(cure.threshold), because))
        edits += rate_edit(subject, rate, "with clipping, higher rates are stable")
    return Answer(
        (first, gain, edge_finding(edge)),
        (*_drawn(edge, tried), *pictures.strip(GAIN, found), *pictures.rates(edge)),
        tuple(edits),
        (str(subject.knobs.learning_rate),) if edits else (),
    )


def _not_cured(edge: Edge, tried: tuple[Tried, ...]) -> Answer:
    last = tried[-1]
    stable = not last.trouble
    sentence = (
        f"Clipped at {shown(last.threshold)}, training is stable at {shown(edge.unstable or 0)}, "
        f"but {percent(last.clipped)} of the updates are clipped."
        if stable
        else f"Training at {shown(edge.unstable or 0)} stays unstable when clipped at "
        f"{shown(last.threshold)} ({last.trouble})."
    )
    advice = (
        "Lower the learning rate instead: where more than half the updates are clipped, clipping "
        "only hides that it is too high."
        if stable
        else "Try a warm-up, which cures what clipping cannot: tunebook probe warmup. After that: "
        "another optimiser, normalisation inside the residual, residual branches that begin at "
        "zero; a lower learning rate last."
    )
    numbers = {"threshold": last.threshold, "clipped": last.clipped}
    finding = Finding(QUESTION, Verdict.WATCH, sentence, advice, numbers=numbers)
    drawn = (*_drawn(edge, tried), *pictures.rates(edge))
    return Answer((finding, edge_finding(edge)), drawn)


def _no_norms(subject: Subject, edge: Edge) -> Answer:
    metric = subject.knobs.grad_norm
    finding = Finding(
        QUESTION,
        Verdict.UNKNOWN,
        f"Fewer than 20 values of {metric} were logged before training broke: no threshold "
        "follows from them.",
        f"Log it at every step: run.log({{{metric!r}: norm}}, step=step).",
    )
    return Answer((finding, edge_finding(edge)), pictures.rates(edge))


def _drawn(edge: Edge, tried: Sequence[Tried]) -> tuple[Figure, ...]:
    named = {f"clipping at {shown(one.threshold)}": one.readings for one in tried}
    return pictures.curves(edge, QUESTION, named)
