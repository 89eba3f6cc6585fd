"""By how much trainings are better than others on the same seeds, some of which may be lost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.stats.samples import standard_error
from tunebook.stats.shares import fewer_p

# Differences below this share of a result are rounding.
ROUNDING: Final = 1e-9
# That more trainings of one side come to nothing is luck, unless luck does so as seldom as this.
BEYOND_LUCK: Final = 0.05


@dataclass(frozen=True, slots=True)
class Gain:
    """By how much some trainings are better than others on the same seeds.

    Infinite where clearly fewer come to nothing, minus infinity where clearly more do.
    """

    mean: float
    error: float
    least: float = 0.0

    def is_above(self, errors: float) -> bool:
        """Whether it is above so many standard errors, and above rounding."""
        return self.mean > max(errors * self.error, self.least)

    def is_below(self, errors: float) -> bool:
        """Whether it is a loss of as much."""
        return -self.mean > max(errors * self.error, self.least)


def losses_of(readings: Iterable[Reading], metric: Metric) -> dict[int, float]:
    """Results by seed, lower for better ones; infinity for those that came to nothing."""
    found: dict[int, float] = {}
    for reading in readings:
        if reading.value is not None:
            found[reading.record.trial.seed] = metric.loss(reading.value)
        elif reading.standing is Standing.INFEASIBLE:
            found[reading.record.trial.seed] = math.inf
    return found


def lost(losses: Mapping[int, float]) -> int:
    """How many seeds came to nothing."""
    return sum(map(math.isinf, losses.values()))


def gain_of(before: Mapping[int, float], after: Mapping[int, float]) -> Gain | None:
    """What some trainings gain over others, by seed; None where fewer than two seeds tell.

    A seed that one side lost says nothing of the results of the other. How many each side lost
    decides only where it is beyond luck: of four seeds, all against none.
    """
    seeds = sorted(before.keys() & after.keys())
    one, other = ({seed: side[seed] for seed in seeds} for side in (before, after))
    many, gone, still = len(seeds), lost(one), lost(other)
    if many > 1 and gone == still == many:
        return Gain(0.0, 0.0)
    if many and fewer_p(still, many, gone, many) <= BEYOND_LUCK:
        return Gain(math.inf, 0.0)
    if many and fewer_p(gone, many, still, many) <= BEYOND_LUCK:
        return Gain(-math.inf, 0.0)
    a, b = (np.array([side[seed] for seed in seeds]) for side in (one, other))
    both = np.isfinite(a) & np.isfinite(b)
    differences = a[both] - b[both]
    error = standard_error(differences)
    if error is None:
        return None
    least = ROUNDING * float(np.max(np.abs(a[both])))
    return Gain(float(np.mean(differences)), error, least)
