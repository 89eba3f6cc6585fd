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
from tunebook.procedures.remedies.comparing import (
    SEEDS,
    Comparison,
    Outcomes,
    Tuned,
    Variant,
    over_seeds,
    rates_up_to,
    tuned,
    with_rate,
)
from tunebook.procedures.remedies.edge import Edge, find_edge, whole_steps
from tunebook.procedures.remedies.edge_words import InVain, not_to_be_cured
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
class _Compared:
    """What both arms of a comparison have: the best rate, steps, the study's warm-up, seeds."""

    best: float
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
    compared = _Compared(edge.best or 0.0, body, short, own, seeds)
    if edge.to_cure is not None:
        return (yield from _of_unstable(subject, edge, edge.to_cure[1], compared))
    if edge.worse is not None:
        return (yield from _of_worse(subject, edge, edge.worse, compared))
    return not_to_be_cured(subject, QUESTION, edge, "a warm-up")


def _of_unstable(subject: Subject, edge: Edge, unstable: float, compared: _Compared) -> Procedure:
    """The shortest warm-up that is stable at multiples of the unstable rate, and what it brings."""
    befores: dict[int, tuple[Tuned, Outcomes]] = {}
    cure: Cure | None = None
    first: tuple[float, tuple[Tried, ...]] | None = None
    every: list[Tried] = []
    factor: int | None = FIRST
    while factor is not None:
        peak = float(f"{factor * unstable:.2g}")
        tried = yield from stable_lengths(subject, edge, factor, peak, compared.body, QUESTION.text)
        first = first or (peak, tried)
        every += tried
        shortest = next((one for one in tried if one.is_stable), None)
        if shortest is None:
            factor = LOWER.get(factor)
            continue
        total = compared.body + max(compared.own, shortest.steps)
        if total not in befores:
            stage = f"-{factor}u" if befores else ""
            befores[total] = yield from _before(subject, compared, stage, total)
        after = yield from _after(
            subject, edge, compared, f"{factor}u", peak, shortest.steps, total
        )
        one = _cure(subject, edge, compared, unstable, peak, tried, befores[total], after)
        if cure is None or one.pays:
            cure = one
        factor = None if one.pays else HIGHER.get(factor)
    if cure is None:
        return words.not_cured(subject, edge, *(first or (0.0, ())), every)
    return words.cured(subject, edge, cure)


def _of_worse(subject: Subject, edge: Edge, worse: float, compared: _Compared) -> Procedure:
    """The shortest warm-up that makes a rate as good as the best one, and what it brings."""
    tried = yield from good_lengths(subject, edge, worse, compared.body, QUESTION.text)
    shortest = next((one for one in tried if one.is_stable), None)
    if shortest is None:
        remedied = f"a warm-up of {tried[-1].steps} steps"
        vain = InVain(worse, remedied, tried[-1].readings, words.METHOD_WORSE)
        return not_to_be_cured(subject, QUESTION, edge, "a warm-up", vain)
    total = compared.body + max(compared.own, shortest.steps)
    before = yield from _before(subject, compared, "", total)
    after = yield from _after(subject, edge, compared, "worse", worse, shortest.steps, total)
    made = _cure(subject, edge, compared, worse, worse, tried, before, after)
    return words.cured(subject, edge, replace(made, is_seen=False))


def _cure(
    subject: Subject,
    edge: Edge,
    compared: _Compared,
    at: float,
    peak: float,
    tried: tuple[Tried, ...],
    before: tuple[Tuned, Outcomes],
    after: tuple[Tuned, Outcomes],
) -> Cure:
    (without, first), (within, second) = before, after
    length = next(one.steps for one in tried if one.is_stable)
    return Cure(
        at=at,
        peak=peak,
        tried=tried,
        length=length,
        rate=within.rate,
        without=without.rate,
        found=Comparison(subject.study.objective.metric, first, second),
        steps=compared.body,
        own=compared.own,
        highest=within.highest,
        trouble=edge.trouble_among(second.readings, compared.body + max(compared.own, length)),
    )


def _own(subject: Subject) -> int:
    value = subject.value("warmup_steps")
    return int(value) if isinstance(value, int | float) else 0


def _before(
    subject: Subject, compared: _Compared, stage: str, total: int
) -> Generator[Study, Results, tuple[Tuned, Outcomes]]:
    """The study's own warm-up, as well tuned, in trainings of as many steps.

    More steps make a training better by themselves: they are no merit of the warm-up.
    """
    own, best = compared.own, compared.best
    steps = asked_for(subject, total, own)
    variant, found = Variant({subject.name("warmup_steps"): own}, steps), Tuned(best, best)
    if own or compared.short < compared.body:
        rates = rates_up_to(best, (OWN if own else 10**0.5) * best)
        name = f"tune-before{stage}"
        found = (yield from tuned(subject, name, variant, rates, goal=words.GAIN.text)) or found
    outcomes = yield from over_seeds(
        subject,
        f"compare-before{stage}",
        with_rate(subject, variant, found.rate),
        seeds=compared.seeds,
        goal=words.GAIN.text,
        end=found.end,
    )
    return found, outcomes


def _after(
    subject: Subject,
    edge: Edge,
    compared: _Compared,
    stage: str,
    peak: float,
    length: int,
    total: int,
) -> Generator[Study, Results, tuple[Tuned, Outcomes]]:
    """A warm-up, tuned over rates at which training stays stable."""
    variant = Variant({subject.name("warmup_steps"): length}, asked_for(subject, total, length))
    found = yield from tuned(
        subject,
        f"tune-{stage}",
        variant,
        rates_up_to(compared.best, peak),
        goal=words.GAIN.text,
        refused=lambda readings: bool(edge.trouble_among(readings, total)),
    )
    found = found or Tuned(compared.best, compared.best)
    outcomes = yield from over_seeds(
        subject,
        f"compare-after-{stage}",
        with_rate(subject, variant, found.rate),
        seeds=compared.seeds,
        goal=words.GAIN.text,
        end=found.end,
    )
    return found, outcomes
