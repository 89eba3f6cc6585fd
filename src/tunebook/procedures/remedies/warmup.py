"""Does a warm-up let training use higher learning rates, and how short may it be?"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.procedures.answers import Procedure
from tunebook.procedures.needs import MAX_STEPS, Need
from tunebook.procedures.remedies import warmup_words as words
from tunebook.procedures.remedies.comparing import SEEDS, Arm, compared
from tunebook.procedures.remedies.edge import Edge, find_edge, whole_steps
from tunebook.procedures.remedies.edge_words import InVain, not_to_be_cured
from tunebook.procedures.remedies.tuning import (
    Tuned,
    Variant,
    rates_up_to,
    tuned,
    with_rate,
)
from tunebook.procedures.remedies.warmup_lengths import asked_for, good_lengths, stable_lengths
from tunebook.procedures.remedies.warmup_tried import Cure, Tried
from tunebook.procedures.subjects import Subject

QUESTION: Final = words.QUESTION
NEEDS: Final = (
    Need("learning_rate", "which it sweeps"),
    Need("warmup_steps", "which it varies"),
    Need("train_loss", "in which instability shows"),
    Need(MAX_STEPS, "of which a warm-up is a share"),
)
# Peak rates, in multiples of the smallest unstable rate: which comes first, which after one that
# is stable and brings nothing, and which after one that no warm-up makes stable.
FIRST: Final = 10
HIGHER: Final = {10: 100}
LOWER: Final = {10: 3, 3: 1}
# Those of a whole training at least.
LEAST_STEPS: Final = 40
SHORT_STEPS: Final = 1000
# With a warm-up of the study's own, rates up to this multiple of the best without one are tuned.
OWN: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What both arms of a comparison have: steps, the study's warm-up, seeds."""

    body: int
    short: int
    own: int
    seeds: int


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """Find the edge of stability, the shortest warm-up beyond it, and what that brings."""
    own = _own(subject)
    # A program's own warm-up is part of its steps; that of the reference loop comes on top.
    total = whole_steps(subject, "warmup", LEAST_STEPS + (0 if subject.study.task else own))
    body = total if subject.study.task is not None else total - own
    seeds = int(options.get("seeds") or SEEDS)
    short = min(body, int(options.get("steps") or SHORT_STEPS))
    none = {subject.name("warmup_steps"): 0}
    edge = yield from find_edge(subject, goal=QUESTION.text, steps=short, fix=none)
    asked = _Asked(body, short, own, seeds)
    if edge.to_cure is not None:
        return (yield from _of_unstable(subject, edge, edge.to_cure[1], asked))
    if edge.worse is not None:
        return (yield from _of_worse(subject, edge, edge.worse, asked))
    return not_to_be_cured(subject, QUESTION, edge, "a warm-up")


def _of_unstable(subject: Subject, edge: Edge, unstable: float, asked: _Asked) -> Procedure:
    """The shortest warm-up that is stable at multiples of the unstable rate, and what it brings."""
    # By the steps of a training: the stages of what it is compared with, which may be the same.
    stages: dict[int, str] = {}
    cure: Cure | None = None
    first: tuple[float, tuple[Tried, ...]] | None = None
    every: list[Tried] = []
    factor: int | None = FIRST
    while factor is not None:
        peak = float(f"{factor * unstable:.2g}")
        tried = yield from stable_lengths(subject, edge, factor, peak, asked.body, QUESTION.text)
        first = first or (peak, tried)
        every += tried
        shortest = next((one for one in tried if one.is_stable), None)
        if shortest is None:
            factor = LOWER.get(factor)
            continue
        total = asked.body + max(asked.own, shortest.steps)
        before = stages.setdefault(total, f"before-{factor}u" if stages else "before")
        one = yield from _cure(
            subject, edge, asked, (before, f"{factor}u"), (unstable, peak), tried
        )
        if cure is None or one.pays:
            cure = one
        factor = None if one.pays else HIGHER.get(factor)
    if cure is None:
        return words.not_cured(subject, edge, *(first or (0.0, ())), every)
    return words.cured(subject, edge, cure)


def _of_worse(subject: Subject, edge: Edge, worse: float, asked: _Asked) -> Procedure:
    """The shortest warm-up that makes a rate as good as the best one, and what it brings."""
    tried = yield from good_lengths(subject, edge, worse, asked.body, QUESTION.text)
    if not any(one.is_stable for one in tried):
        remedied = f"a warm-up of {tried[-1].steps} steps"
        vain = InVain(worse, remedied, tried[-1].readings, words.METHOD_WORSE)
        return not_to_be_cured(subject, QUESTION, edge, "a warm-up", vain)
    made = yield from _cure(subject, edge, asked, ("before", "worse"), (worse, worse), tried)
    return words.cured(subject, edge, replace(made, is_seen=False))


def _cure(
    subject: Subject,
    edge: Edge,
    asked: _Asked,
    stages: tuple[str, str],
    rates: tuple[float, float],
    tried: tuple[Tried, ...],
) -> Generator[Study, Results, Cure]:
    """What the shortest warm-up brings that cures, beside the study's own in as many steps.

    `stages` are the names of both, and `rates` those that it cures: from which one, up to which.
    """
    (before, after), (at, peak) = stages, rates
    length = next(one.steps for one in tried if one.is_stable)
    total = asked.body + max(asked.own, length)
    own, without = yield from _before(subject, edge, asked, before, total)
    new, within = yield from _after(subject, edge, asked, after, peak, length, total)
    found = yield from compared(
        subject,
        Arm(f"compare-{before}", with_rate(subject, own, without.rate), without.end),
        Arm(f"compare-after-{after}", with_rate(subject, new, within.rate), within.end),
        most=asked.seeds,
        goal=words.GAIN.text,
    )
    return Cure(
        at=at,
        peak=peak,
        tried=tried,
        length=length,
        rate=within.rate,
        without=without.rate,
        found=found,
        steps=asked.body,
        own=asked.own,
        highest=within.highest,
        trouble=edge.trouble_among(found.after.readings, total),
    )


def _own(subject: Subject) -> int:
    value = subject.value("warmup_steps")
    return int(value) if isinstance(value, int | float) else 0


def _before(
    subject: Subject, edge: Edge, asked: _Asked, stage: str, total: int
) -> Generator[Study, Results, tuple[Variant, Tuned]]:
    """The study's own warm-up, as well tuned, in trainings of as many steps.

    More steps make a training better by themselves: they are no merit of the warm-up.
    """
    own, best = asked.own, edge.best or 0.0
    variant = Variant({subject.name("warmup_steps"): own}, asked_for(subject, total, own))
    if not own and asked.short == asked.body:
        return variant, Tuned(best, best)
    rates = rates_up_to(best, (OWN if own else 10**0.5) * best)
    found = yield from tuned(subject, f"tune-{stage}", variant, rates, goal=words.GAIN.text)
    return variant, found or Tuned(best, best)


def _after(
    subject: Subject,
    edge: Edge,
    asked: _Asked,
    stage: str,
    peak: float,
    length: int,
    total: int,
) -> Generator[Study, Results, tuple[Variant, Tuned]]:
    """A warm-up, tuned over rates at which training stays stable."""
    best = edge.best or 0.0
    variant = Variant({subject.name("warmup_steps"): length}, asked_for(subject, total, length))
    found = yield from tuned(
        subject,
        f"tune-{stage}",
        variant,
        rates_up_to(best, peak),
        goal=words.GAIN.text,
        refused=lambda readings: bool(edge.trouble_among(readings, total)),
    )
    return variant, found or Tuned(best, best)
