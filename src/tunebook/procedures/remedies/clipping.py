"""Does clipping gradients make training stable at higher learning rates, and from which norm on?"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
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
from tunebook.procedures.remedies.clipping_tried import (
    Courses,
    Cure,
    Tried,
    best_of,
    best_of_good,
    is_too_much,
)
from tunebook.procedures.remedies.comparing import SEEDS, Arm, Comparison, compared
from tunebook.procedures.remedies.edge import SWEEP, Edge, are_calmer, find_edge, whole_steps
from tunebook.procedures.remedies.edge_words import not_to_be_cured
from tunebook.procedures.remedies.tuning import (
    Tuned,
    Variant,
    rates_up_to,
    tuned,
    with_rate,
)
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """The steps of a whole training and of a short one, fresh seeds, what means no clipping."""

    total: int
    short: int
    seeds: int
    off: Value


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """Find where training is unstable without clipping, a threshold, and what that brings."""
    off = no_clipping(subject, options)
    total = whole_steps(subject, "clipping", LEAST_STEPS)
    short = min(total, int(options.get("steps") or SHORT_STEPS))
    asked = _Asked(total, short, int(options.get("seeds") or SEEDS), off)
    fix = {subject.name("clipping"): off}
    edge = yield from find_edge(subject, goal=QUESTION.text, steps=short, fix=fix)
    curable = to_cure(edge)
    if curable is None:
        return not_to_be_cured(subject, QUESTION, edge, "clipping")
    best, unstable = curable
    is_seen = bool(edge.trouble_at(unstable))
    # Of trainings that end worse all norms may be unusual, and no blow-up says from when on.
    threshold = usual_norm(subject, edge, unstable if is_seen else best)
    if threshold is None:
        return words.no_norms(subject, edge)
    tried = yield from _thresholds(subject, edge, unstable, threshold, short)
    chosen = best_of(tried) if is_seen else best_of_good(edge, unstable, tried)
    if chosen is None and is_seen:
        return words.not_cured(subject, edge, unstable, tried)
    if chosen is None:
        return not_to_be_cured(
            subject, QUESTION, edge, "clipping", words.in_vain(unstable, tried[0])
        )
    cure = yield from _cure(subject, edge, curable, tried, chosen, asked)
    return words.cured(subject, edge, cure)


def _cure(
    subject: Subject,
    edge: Edge,
    curable: tuple[float, float],
    tried: tuple[Tried, ...],
    chosen: Tried,
    asked: _Asked,
) -> Generator[Study, Results, Cure]:
    """What the chosen threshold brings at its best rate, beside the study's own at its best."""
    (best, unstable), total = curable, asked.total
    own, goal = subject.value("clipping"), words.GAIN.text
    before, without = yield from _before(subject, best, own, asked)
    after, rates = _clipped(subject, chosen.threshold, total), rates_up_to(best, FURTHER * best)
    refused = _refused(subject, edge, unstable, chosen, total)
    tuning = tuned(subject, "tune", after, rates, goal=goal, refused=refused)
    within = (yield from tuning) or Tuned(best, best)

    def cure(found: Comparison) -> Cure:
        return Cure(
            tried,
            chosen,
            at=unstable,
            is_best=unstable == best,
            rate=within.rate,
            without=without.rate,
            highest=within.highest,
            found=found,
            own=None if same_value(own, asked.off) else own,
            clipped=clipped_share(subject, found.after.readings, chosen.threshold),
            before=_courses(edge, unstable, found.before.readings, total),
            after=_courses(edge, unstable, found.after.readings, total),
            is_seen=bool(edge.trouble_at(unstable)),
        )

    found = yield from compared(
        subject,
        Arm("compare-before", with_rate(subject, before, without.rate), without.end),
        Arm("compare-after", with_rate(subject, after, within.rate), within.end),
        most=asked.seeds,
        goal=goal,
        other_p=lambda found: cure(found).steadier_p,
    )
    return cure(found)


def to_cure(edge: Edge) -> tuple[float, float] | None:
    """The best rate, and the one at which training is unstable: it may be the best itself.

    Outlying gradients disturb training at every rate, and the best is where they do the least harm.
    Where nothing is seen to be unstable it is the first rate above that is worse.
    """
    best = edge.best
    if best is None or edge.usual is None or edge.sweep.boundary is not None:
        return None
    if edge.trouble_at(best):
        return best, best
    return edge.to_cure or ((best, edge.worse) if edge.worse is not None else None)


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


def usual_norm(subject: Subject, edge: Edge, at: float) -> float | None:
    """The 90th percentile of unclipped norms before any blow-up, at a rate; else at the best.

    A blow-up that comes back is one, too: norms after it are not usual. Where they all come so
    early that nothing is before them, the whole of the trainings at the best rate has to do.
    """
    for rate, whole in ((at, False), (edge.best, False), (edge.best, True)):
        readings = edge.sweep.readings[rate] if rate is not None else ()
        found = [_level(subject, edge, reading, whole) for reading in readings]
        levels = [level for level in found if level is not None]
        if levels and np.median(levels) > 0:
            return float(f"{np.median(levels):.2g}")
    return None


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


def _level(subject: Subject, edge: Edge, reading: Reading, whole: bool) -> float | None:
    curve = reading.curve(subject.name("grad_norm"))
    if curve is None:
        return None
    onset = None if whole else edge.onset(reading, edge.steps)
    usual = curve.steps < (math.inf if onset is None else onset)
    norms = gradient_norms(curve.steps[usual], curve.values[usual])
    return None if norms is None else norms.percentile_90


def _thresholds(
    subject: Subject,
    edge: Edge,
    rate: float,
    threshold: float,
    steps: int,
) -> Generator[Study, Results, tuple[Tried, ...]]:
    """Thresholds at the unstable rate, smaller and smaller, until one keeps training stable.

    One alone, with the seeds of the sweep, at a rate that is only worse: results are to tell.
    """
    is_seen = bool(edge.trouble_at(rate))
    clip, name = subject.name("clipping"), subject.name("learning_rate")
    without = edge.rises(edge.sweep.readings[rate], steps)
    tried: list[Tried] = []
    for number, smaller in enumerate(SHRINKING if is_seen else SHRINKING[:1], 1):
        level = float(f"{smaller * threshold:.2g}")
        results = yield subject.stage(
            f"threshold-{number}",
            {clip: [level]},
            {name: rate},
            goal=QUESTION.text,
            steps=steps,
            replicates=3 if is_seen else len(edge.at_best),
            seeds_of=None if is_seen else SWEEP,
        )
        readings = readings_of(results)
        why = edge.trouble_in(readings, steps)
        share = clipped_share(subject, readings, level)
        calmer = are_calmer(edge.rises(readings, steps), without)
        tried.append(Tried(level, readings, why, share, calmer))
        if why == "":
            break
    return tuple(tried)


def _clipped(subject: Subject, threshold: Value, steps: int) -> Variant:
    return Variant({subject.name("clipping"): threshold}, steps)


def _before(
    subject: Subject, best: float, own: Value, asked: _Asked
) -> Generator[Study, Results, tuple[Variant, Tuned]]:
    """What clipping is compared with: the study's own, as well tuned at the full length."""
    variant, none = _clipped(subject, own, asked.total), same_value(own, asked.off)
    if none and asked.short == asked.total:
        return variant, Tuned(best, best)
    rates = rates_up_to(best, best * (10**0.5 if none else FURTHER))
    found = yield from tuned(subject, "tune-before", variant, rates, goal=words.GAIN.text)
    return variant, found or Tuned(best, best)


def _refused(
    subject: Subject, edge: Edge, unstable: float, chosen: Tried, steps: int
) -> Callable[[Sequence[Reading]], bool]:
    """Where clipping does what a lower rate should, or does not keep training as calm as it did."""
    without = edge.rises(edge.sweep.readings[unstable], edge.steps)

    def refused(readings: Sequence[Reading]) -> bool:
        if is_too_much(clipped_share(subject, readings, chosen.threshold)):
            return True
        calm = bool(chosen.trouble) and are_calmer(edge.rises(readings, steps), without)
        return bool(edge.trouble_among(readings, steps)) and not calm

    return refused


def _courses(edge: Edge, unstable: float, readings: Sequence[Reading], steps: int) -> Courses:
    """How many trainings are unstable, and not clearly less so than those of the sweep were."""
    told = [r for r in readings if edge.trouble(r, steps) is not None]
    without = edge.rises(edge.sweep.readings[unstable], edge.steps)
    found = [r for r in told if edge.trouble(r, steps) and not are_calmer([edge.rise(r)], without)]
    return Courses(len(found), len(told))
