"""The results of equal runs: of all together, by source of chance, and in pairs of equal seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tunebook.stats.samples import Interval, PooledSd, mean_interval, pooled_sd
from tunebook.stats.variance import Components, variance_components


@dataclass(frozen=True, slots=True)
class Scatter:
    """Results of runs that differ in their seeds alone, two or more.

    `values` are those in which every seed was new, `alone` those in which one knob's was, by knob;
    `pairs` are results of runs in which nothing was. `broken` runs diverged.
    """

    values: tuple[float, ...]
    alone: Mapping[str, tuple[float, ...]]
    pairs: tuple[tuple[float, float], ...]
    broken: int
    mean: Interval
    total: PooledSd
    components: Components

    @staticmethod
    def of(
        values: Sequence[float],
        alone: Mapping[str, Sequence[float]],
        pairs: Sequence[tuple[float, float]] = (),
        broken: int = 0,
    ) -> Scatter:
        mean, total = mean_interval(values), pooled_sd([values])
        if mean is None or total is None:
            raise ValueError(f"scatter needs two results, got {len(values)}")
        # Each has mean 0 and the variance of one run.
        residuals = [(after - before) / math.sqrt(2) for before, after in pairs]
        components = variance_components(alone, residuals)
        known = {knob: tuple(found) for knob, found in alone.items()}
        return Scatter(tuple(values), known, tuple(pairs), broken, mean, total, components)

    @property
    def is_repeatable(self) -> bool | None:
        """Whether equal seeds gave equal results; None where that was not tried."""
        return all(before == after for before, after in self.pairs) if self.pairs else None
