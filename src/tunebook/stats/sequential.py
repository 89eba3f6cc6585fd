"""A test that looks at two samples several times while they grow, and keeps to its level.

Looking after every few values and stopping at the first p-value that is small enough finds more and
more differences between equals. So each look has a lower level, by which all looks together have
the one that is wanted: that of Pocock, for Welch's test and these sizes, by simulation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from tunebook.stats.arrays import Floats

# Values of each sample at each look: each look has about 1.6 times those of the one before.
SIZES: Final = (3, 5, 8, 12, 20)
_GROWTH: Final = 1.6
# Pairs of samples that are drawn to find a level: its standard error is 1.5% of it.
_PAIRS: Final = 200_000
# A look that the last one adds less to is not worth its level.
_WORTH: Final = 1.25
# A look is hopeless where p is above this times the share of values that are still to come, if some
# are there. Stopping there makes differences between equals rarer still, so that no level depends
# on it; of those that are there it loses about one in fifty, and of equals it spares half of the
# values.
_HOPE: Final = 0.75
_SOME: Final = 0.2


@dataclass(frozen=True, slots=True)
class Looks:
    """The sizes of each sample at which one looks, and the level of each look."""

    sizes: tuple[int, ...]
    level: float

    def is_hopeless(self, size: int, p: float) -> bool:
        """Whether a look leaves so little hope that more values are not worth their price."""
        share = size / self.sizes[-1]
        return share >= _SOME and p > _HOPE * (1.0 - share)


def sizes_up_to(most: int, least: int = SIZES[0]) -> tuple[int, ...]:
    """The sizes at which to look, where samples may have so many values; the first is `least`.

    >>> sizes_up_to(10), sizes_up_to(40, least=8)
    ((3, 5, 8, 10), (8, 12, 20, 32, 40))
    """
    sizes = list(SIZES)
    while sizes[-1] < most:
        sizes.append(int(_GROWTH * sizes[-1]))
    return (*(size for size in sizes if least <= size <= most / _WORTH), most)


@functools.cache
def looks_up_to(most: int, level: float, least: int = SIZES[0]) -> Looks:
    """When to look at two samples of up to `most` values, for a one-sided level over all looks."""
    if most < 2:
        raise ValueError(f"two samples need two values each at least, got {most}")
    sizes = sizes_up_to(most, least)
    return Looks(sizes, nominal_level(sizes, level))


def nominal_level(sizes: Sequence[int], level: float, seed: int = 0) -> float:
    """The level of each look by which all together have `level`: normal samples, one-sided.

    Rounded down to two digits, so that luck and versions of libraries do not show. One look alone
    has the level itself, though Welch's test is below it for very small samples.
    """
    if len(sizes) == 1:
        return level
    rng = np.random.default_rng(seed)
    looks = zip(sizes, _growing(rng, sizes), _growing(rng, sizes), strict=True)
    smallest = np.min([_welch_p(size, *one, *other) for size, one, other in looks], axis=0)
    found = float(np.quantile(smallest, level))
    unit = 10.0 ** (math.floor(math.log10(found)) - 1)
    return float(f"{math.floor(found / unit) * unit:.2g}")


def _growing(rng: np.random.Generator, sizes: Sequence[int]) -> Iterator[tuple[Floats, Floats]]:
    """Means of growing normal samples, and their variances over their sizes, at each size.

    What each look adds is drawn by its own mean and sum of squares, and not value by value.
    """
    before, mean, squares = 0, np.zeros(_PAIRS), np.zeros(_PAIRS)
    for size in sizes:
        added = size - before
        step = rng.standard_normal(_PAIRS) / math.sqrt(added) - mean
        mean = mean + step * added / size
        squares = squares + step**2 * before * added / size
        if added > 1:
            squares += rng.chisquare(added - 1, _PAIRS)
        yield mean, squares / (size - 1) / size
        before = size


def _welch_p(size: int, mean: Floats, a: Floats, other: Floats, b: Floats) -> Floats:
    """`samples.welch_p` of many pairs of samples, by their means and squares of their errors."""
    freedom = (size - 1) * (a + b) ** 2 / (a**2 + b**2)
    found: Floats = special.stdtr(freedom, (mean - other) / np.sqrt(a + b))
    return found
