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
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import by_value, mean_loss

STAGE: Final = "rates"
# So many times above or below the fastest rate, the start's is tried beside it.
FAR: Final = 3.0


@dataclass(frozen=True, slots=True)
class Rates:
    """The start's rate beside the fastest of the sweep, each in trainings of so many steps.

    `losses` are mean results by rate, lower for better ones; infinity where a rate does not work,
    and NaN where nobody knows.
    """

    start: float
    fastest: float
    steps: int
    losses: Mapping[float, float]

    @property
    def better(self) -> float:
        """The start's, unless the fastest one is better."""
        before, after = (self.losses.get(rate, math.nan) for rate in (self.start, self.fastest))
        known = math.inf if math.isnan(before) else before
        return self.fastest if after < known else self.start

    @property
    def is_other(self) -> bool:
        """Whether the start's rate is not the better one."""
        return self.better != self.start


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
    judge = mean_loss(subject.study.objective.metric)
    losses = {rate: judge(readings) for rate, readings in by_value(results, name).items()}
    return Rates(start, fastest, steps, losses)
