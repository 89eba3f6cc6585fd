"""Where the scatter of equal runs comes from, and how many seeds a difference needs.

Replicates are `(n,)`, one value for each run; values that are not finite are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tunebook.stats.samples import Interval, PooledSd, finite, pooled_sd

MOST_SEEDS = 10_000
# Values that differ by less than this share of them differ by the order of their sums alone.
ROUNDING = 1e-12
_ITERATIONS = 60


@dataclass(frozen=True, slots=True)
class Component:
    """The variance that one source adds, with its 95% interval, from so many runs.

    It is 0 where the runs scatter no more than those in which nothing was varied.
    """

    variance: Interval
    runs: int

    @property
    def sd(self) -> Interval:
        v = self.variance
        return Interval(math.sqrt(v.estimate), math.sqrt(v.low), math.sqrt(v.high))


@dataclass(frozen=True, slots=True)
class Components:
    """The variance of runs by source.

    `residual` is what is left when nothing is varied, None where that was not measured; `sources`
    what each source adds to it when varied alone.
    """

    residual: Component | None
    sources: Mapping[str, Component]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds for each arm, and as many for the ends of the interval of the sd; None: over 10,000."""

    seeds: int | None
    low: int | None
    high: int | None


def are_equal(values: ArrayLike) -> bool:
    """Whether values are equal up to rounding.

    >>> are_equal([0.3, 0.1 + 0.2]), are_equal([0.3, 0.3 + 1e-9])
    (True, False)
    """
    x = finite(values)
    return not len(x) or bool(np.ptp(x) <= ROUNDING * np.max(np.abs(x)))


def sd_within(groups: Sequence[ArrayLike], confidence: float = 0.95) -> PooledSd | None:
    """The sd within groups of replicates: exactly 0 where it is rounding alone.

    The mean of ten equal values is not always that value.
    """
    found = pooled_sd(groups, confidence)
    if found is not None and all(map(are_equal, groups)):
        return PooledSd(0.0, 0.0, 0.0, found.freedom)
    return found


def variance_components(
    alone: Mapping[str, ArrayLike], same: Sequence[ArrayLike] = (), confidence: float = 0.95
) -> Components:
    """Components of variance from runs in which one source was varied alone.

    `same` are groups of runs in which nothing was varied; groups may differ in their means.

    A single variance has its chi-square interval. A source's is the difference of two, with the
    interval of the modified large-sample method (Graybill and Wang, 1980; Ting et al., 1990). A
    source with fewer than two runs is left out.
    """
    tail = 1.0 - confidence
    rest = _square(same, tail)
    squares = {name: _square([x], tail) for name, x in alone.items()}
    scatter = {name: square for name, square in squares.items() if square is not None}
    return Components(
        None if rest is None else Component(rest.interval, rest.runs),
        {
            name: Component(
                found.interval if rest is None else _above_zero(_difference(found, rest)),
                found.runs,
            )
            for name, found in scatter.items()
        },
    )


def seeds_needed(
    sd: PooledSd, difference: float, level: float = 0.05, power: float = 0.8
) -> Seeds | None:
    """Seeds for each arm so that a one-sided t-test of improvement finds `difference`.

    The fewest n whose power, by the noncentral t distribution, is enough: near
    2 (z_(1-level) + z_power)^2 sd^2 / difference^2, and some more for few seeds. None for a
    difference that is not above 0: no number of seeds shows it.

    >>> seeds_needed(PooledSd(1.0, 1.0, 1.0, 100), difference=1.0)
    Seeds(seeds=14, low=14, high=14)
    """
    if not difference > 0.0:
        return None
    return Seeds(*(_seeds(difference, s, level, power) for s in (sd.sd, sd.low, sd.high)))


def smallest_difference(
    sd: PooledSd, seeds: int, level: float = 0.05, power: float = 0.8
) -> Interval | None:
    """The improvement that so many seeds in each arm show with `power`, in the same test.

    The interval is for the ends of that of the sd. None for fewer than two seeds.
    """
    if seeds < 2:
        return None
    low, high = 0.0, 1.0
    while _power(high, seeds, level) < power:
        high *= 2.0
    for _ in range(_ITERATIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _power(middle, seeds, level) < power else (low, middle)
    return Interval(*(high * s for s in (sd.sd, sd.low, sd.high)))


def _seeds(effect: float, sd: float, level: float, power: float) -> int | None:
    """The fewest seeds, by bisection: power grows with them."""
    if sd <= 0.0:
        return 2
    ratio = effect / sd
    if not _power(ratio, MOST_SEEDS, level) >= power:
        return None
    low, high = 1, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(ratio, middle, level) >= power else (middle, high)
    return high


def _power(ratio: float, seeds: int, level: float) -> float:
    """The chance that a one-sided t-test finds a difference of `ratio` standard deviations."""
    freedom = 2.0 * seeds - 2.0
    cut = float(special.stdtrit(freedom, 1.0 - level))
    shift = ratio * math.sqrt(seeds / 2.0)
    # Far beyond any doubt, where the series of the noncentral distribution gives up.
    if shift > cut + 12.0 * (1.0 + cut / math.sqrt(freedom)):
        return 1.0
    return 1.0 - float(special.nctdtr(freedom, shift, cut))


@dataclass(frozen=True, slots=True)
class _Square:
    """A mean square: its interval and its runs, and how far either end is from it."""

    interval: Interval
    runs: int

    @property
    def down(self) -> float:
        return self.interval.estimate - self.interval.low

    @property
    def up(self) -> float:
        return self.interval.high - self.interval.estimate


def _square(groups: Sequence[ArrayLike], tail: float) -> _Square | None:
    found = sd_within(groups, 1.0 - tail)
    if found is None:
        return None
    runs = sum(len(x) for x in map(finite, groups) if len(x) > 1)
    return _Square(Interval(found.sd**2, found.low**2, found.high**2), runs)


def _difference(one: _Square, other: _Square) -> Interval:
    """How far one mean square is above another.

    Each end adds, in squares, how far both reach in the direction that moves it.
    """
    estimate = one.interval.estimate - other.interval.estimate
    down, up = math.hypot(one.down, other.up), math.hypot(one.up, other.down)
    return Interval(estimate, estimate - down, estimate + up)


def _above_zero(interval: Interval) -> Interval:
    return Interval(*(max(x, 0.0) for x in (interval.estimate, interval.low, interval.high)))
