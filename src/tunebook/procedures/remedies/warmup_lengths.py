"""How long a warm-up must be: lengths over orders of magnitude, tried at a rate above the best."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Final

from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.procedures.remedies.edge import SWEEP, Edge
from tunebook.procedures.remedies.warmup_tried import Tried
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import readings_of

LONGEST: Final = 0.1
ORDERS: Final = 3
# A warm-up of one step is none.
SHORTEST: Final = 2
# Steps after a warm-up, where twice the warm-up is less.
AFTER: Final = 100


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


def stable_lengths(
    subject: Subject, edge: Edge, factor: int, peak: float, total: int, goal: str
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
            goal=goal,
            steps=asked_for(subject, after + length, length),
            replicates=3,
        )
        readings = readings_of(results)
        why = edge.trouble_in(readings, after + length)
        tried.append(Tried(length, readings, why))
        if why == "":
            break
    return tuple(tried)


def good_lengths(
    subject: Subject, edge: Edge, rate: float, total: int, goal: str
) -> Generator[Study, Results, tuple[Tried, ...]]:
    """The longest warm-up at a rate that is worse without one, then shorter ones while they do.

    The first is to be worth tuning beside none, the others as good as the first.
    Trainings are those of the sweep, with its seeds, and a warm-up in front.
    """
    name, warmup = subject.name("learning_rate"), subject.name("warmup_steps")
    tried: list[Tried] = []
    for length in reversed(lengths(total)):
        results = yield subject.stage(
            f"warmup-{length}",
            {warmup: [length]},
            {name: rate},
            goal=goal,
            steps=asked_for(subject, edge.steps + length, length),
            replicates=len(edge.at_best),
            seeds_of=SWEEP,
        )
        readings = readings_of(results)
        good = (
            edge.are_as_good(readings, tried[0].readings)
            if tried
            else edge.is_worth_tuning(readings, rate)
        )
        why = None if math.isnan(edge.score(readings)) else edge.told(readings)
        tried.append(Tried(length, readings, "" if good else why))
        if not good:
            break
    return tuple(reversed(tried))
