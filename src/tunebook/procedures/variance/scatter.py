"""The results of equal runs: of all together, by source of chance, and in pairs of equal seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tunebook.stats.samples import Interval, PooledSd, mean_interval
from tunebook.stats.variance import Components, are_equal, sd_within, variance_components


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
        mean, total = mean_interval(values), sd_within([values])
        if mean is None or total is None:
            raise ValueError(f"scatter needs two results, got {len(values)}")
        components = variance_components(alone, pairs)
        known = {knob: tuple(found) for knob, found in alone.items()}
        return Scatter(tuple(values), known, tuple(pairs), broken, mean, total, components)

    @property
    def is_repeatable(self) -> bool | None:
        """Whether equal seeds gave equal results; None where that was not tried."""
        return all(map(are_equal, self.pairs)) if self.pairs else None

    @property
    def idle(self) -> tuple[str, ...]:
        """The knobs whose seeds alone changed nothing, though seeds do change results."""
        several = {knob: found for knob, found in self.alone.items() if len(found) > 1}
        return tuple(k for k, found in several.items() if self.total.sd > 0 and are_equal(found))
