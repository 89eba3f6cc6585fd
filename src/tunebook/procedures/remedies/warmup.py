"""Does a warm-up let training use higher learning rates, and how short may it be?"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
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
from tunebook.procedures.remedies.edge_words import not_to_be_cured
from tunebook.procedures.remedies.warmup_tried import Cure, Tried
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import readings_of

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
LONGEST: Final = 0.1
ORDERS: Final = 3
# A warm-up of one step is none.
SHORTEST: Final = 2
# Steps after a warm-up, where twice the warm-up is less; and those of a whole training at least.
AFTER: Final = 100
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
    if edge.to_cure is None:
        return not_to_be_cured(subject, QUESTION, edge, "a warm-up")
    best, unstable = edge.to_cure
    compared = _Compared(best, body, short, own, seeds)
    befores: dict[int, tuple[Tuned, Outcomes]] = {}
    cure: Cure | None = None
    first: tuple[float, tuple[Tried, ...]] | None = None
    factor: int | None = FIRST
    while factor is not None:
        peak = float(f"{factor * unstable:.2g}")
        tried = yield from _lengths(subject, edge, factor, peak, body)
        first = first or (peak, tried)
        shortest = next((one for one in tried if one.is_stable), None)
        if shortest is None:
            factor = LOWER.get(factor)
            continue
        total = body + max(own, shortest.steps)
        if total not in befores:
            stage = f"-{factor}u" if befores else ""
            befores[total] = yield from _before(subject, compared, stage, total)
        without, outcomes = befores[total]
        within, made = yield from _after(subject, edge, compared, factor, peak, shortest, total)
        found = Comparison(subject.study.objective.metric, outcomes, made)
        trouble = edge.trouble_among(made.readings, total)
        one = Cure(
            peak,
            tried,
            shortest.steps,
            within.rate,
            without.rate,
            found,
            body,
            own,
            within.highest,
            trouble,
        )
        if cure is None or one.pays:
            cure = one
        factor = None if one.pays else HIGHER.get(factor)
    if cure is None:
        return words.not_cured(subject, edge, *(first or (0.0, ())))
    return words.cured(subject, edge, cure)


def lengths(total: int) -> tuple[int, ...]:
    """Warm-ups over orders of magnitude, shortest first; the longest is a tenth of the run.

    >>> lengths(10_000)
    (10, 100, 1000)
    """
    longest = max(int(LONGEST * total), SHORTEST)
    return tuple(sorted({max(longest // 10**power, SHORTEST) for power in range(ORDERS)}))


def asked_for(subject: Subject, total: int, warmup: int) -> int:
    """The steps to ask for: the reference loop puts the warm-up in front of them by itself."""
    return total - warmup if subject.study.task is not None else total


def _own(subject: Subject) -> int:
    value = subject.value("warmup_steps")
    return int(value) if isinstance(value, int | float) else 0


def _lengths(
    subject: Subject, edge: Edge, factor: int, peak: float, total: int
) -> Generator[Study, Results, tuple[Tried, ...]]:
    """Warm up to the peak rate and train on for twice as long, until a length stays stable.

    A decay that is squeezed into few steps would hide what the peak rate does.
    """
    rate, warmup = subject.name("learning_rate"), subject.name("warmup_steps")
    tried: list[Tried] = []
    for length in lengths(total):
        after = min(edge.seen_after(max(2 * length, AFTER)), total)
        results = yield subject.stage(
            f"warmup-{factor}u-{length}",
            {warmup: [length]},
            {rate: peak, **subject.constant_rate()},
            goal=QUESTION.text,
            steps=asked_for(subject, after + length, length),
            replicates=3,
        )
        readings = readings_of(results)
        why = edge.trouble_in(readings, after + length)
        tried.append(Tried(length, readings, why))
        if why == "":
            break
    return tuple(tried)


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
    factor: int,
    peak: float,
    shortest: Tried,
    total: int,
) -> Generator[Study, Results, tuple[Tuned, Outcomes]]:
    """The shortest stable warm-up, tuned over rates at which training stays stable."""
    length = shortest.steps
    variant = Variant({subject.name("warmup_steps"): length}, asked_for(subject, total, length))
    found = yield from tuned(
        subject,
        f"tune-{factor}u",
        variant,
        rates_up_to(compared.best, peak),
        goal=words.GAIN.text,
        refused=lambda readings: bool(edge.trouble_among(readings, total)),
    )
    found = found or Tuned(compared.best, compared.best)
    outcomes = yield from over_seeds(
        subject,
        f"compare-after-{factor}u",
        with_rate(subject, variant, found.rate),
        seeds=compared.seeds,
        goal=words.GAIN.text,
        end=found.end,
    )
    return found, outcomes
