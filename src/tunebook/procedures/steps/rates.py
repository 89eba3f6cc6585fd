"""At which learning rate the study's own training is made longer.

A rate far from the best makes training long, or bad, by itself: how many steps it wants says
nothing of how many the study needs.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Final

from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.procedures.steps.gains import Gain, gain_of, losses_of, lost
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import by_value

STAGE: Final = "rates"
# So many times above or below the fastest rate, the start's is tried beside it.
FAR: Final = 3.0
# Standard errors of the paired differences from which on one rate is called better.
CLEARLY: Final = 2.0


@dataclass(frozen=True, slots=True)
class Rates:
    """The start's rate beside the fastest of the sweep, each in trainings of so many steps.

    `losses` are results by rate and seed, lower for better ones; infinity for what came to nothing.
    """

    start: float
    fastest: float
    steps: int
    losses: Mapping[float, Mapping[int, float]]

    @property
    def gain(self) -> Gain | None:
        """What the fastest gains over the start's; None where too few seeds tell.

        Infinite where the start's alone does not work, minus infinity where the fastest alone.
        """
        before, after = (self.losses.get(rate, {}) for rate in (self.start, self.fastest))
        if before and after and _fails(before) != _fails(after):
            return Gain(math.inf if _fails(before) else -math.inf, 0.0)
        return gain_of(before, after)

    @property
    def better(self) -> float:
        """The start's, unless the fastest one is better beyond noise."""
        gain = self.gain
        return self.fastest if gain is not None and gain.is_above(CLEARLY) else self.start

    @property
    def is_other(self) -> bool:
        """Whether the start's rate is not the better one."""
        return self.better != self.start

    @property
    def differ(self) -> bool:
        """Whether one of both is better beyond noise."""
        gain = self.gain
        return gain is not None and (gain.is_above(CLEARLY) or gain.is_below(CLEARLY))

    def mean(self, rate: float) -> float:
        """The mean result, lower for better ones; infinity where a rate does not work."""
        losses = self.losses.get(rate, {})
        known = [loss for loss in losses.values() if math.isfinite(loss)]
        return math.inf if not known or _fails(losses) else sum(known) / len(known)


def is_far(rate: float, fastest: float) -> bool:
    """Whether a rate is so far from the fastest that its steps are its own affair.

    >>> is_far(0.1, 0.02), is_far(0.02, 0.1), is_far(0.1, 0.05)
    (True, True, False)
    """
    return max(rate, fastest) >= FAR * min(rate, fastest)


def compared(
    subject: Subject, fastest: float, steps: int, fix: Config, *, goal: str, seeds: int
) -> Generator[Study, Results, Rates]:
    """The study's own training at both rates, on the same seeds; for `yield from`."""
    name, start = subject.name("learning_rate"), subject.number("learning_rate")
    results = yield subject.stage(
        STAGE, {name: [start, fastest]}, fix, goal=goal, steps=steps, replicates=seeds
    )
    metric = subject.study.objective.metric
    losses = {rate: losses_of(found, metric) for rate, found in by_value(results, name).items()}
    return Rates(start, fastest, steps, losses)


def _fails(losses: Mapping[int, float]) -> bool:
    """Whether most seeds came to nothing."""
    return 2 * lost(losses) > len(losses)
