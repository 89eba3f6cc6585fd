"""Long lines in few points, without losing a spike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tunebook.core.curves import Floats, Ints

# First, last, lowest and highest of a column, and the first and last gap in it.
_KEPT_OF_COLUMN = 6


@dataclass(frozen=True, slots=True, eq=False)
class Thinned:
    """The points that are left, in order, and how many were left out."""

    x: Floats
    y: Floats
    left_out: int


def thin(x: Floats, y: Floats, budget: int) -> Thinned:
    """A line of at most `budget` points (at least 12) that looks the same.

    >>> thinned = thin(np.arange(1e5), np.arange(1e5) == 777, budget=600)
    >>> len(thinned.x) <= 600, float(thinned.y.max()), len(thinned.x) + thinned.left_out
    (True, 1.0, 100000)
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    index = kept(x, y, budget)
    return Thinned(x[index], y[index], len(x) - len(index))


def kept(x: Floats, y: Floats, budget: int) -> Ints:
    """Which points to keep, rising: at most `budget` of them, or 12 where that is less.

    The line is cut into columns of equal width along x. Each keeps its first and last point, its
    lowest and its highest, and a gap (NaN) if it has one, so that no spike and no break is lost.
    Pass places rather than values where the axis is not linear. Where x does not rise, columns
    hold equal numbers of points.
    """
    if len(x) <= max(budget, 2 * _KEPT_OF_COLUMN):
        return np.arange(len(x))
    column = _columns(x, max(budget // _KEPT_OF_COLUMN, 2))
    return _of_columns(column, np.where(np.isnan(x), np.nan, y))


def _columns(x: Floats, number: int) -> Ints:
    """The column of each point, never falling; shape `(n,)`."""
    n = len(x)
    by_order = np.asarray(np.arange(n) * number // n)
    if not np.all(np.isfinite(x[[0, -1]])) or x[-1] <= x[0] or not np.all(np.diff(x) >= 0):
        return by_order
    share = (x / 2 - x[0] / 2) / (x[-1] / 2 - x[0] / 2)
    return np.asarray(np.minimum((share * number).astype(np.int64), number - 1))


def _of_columns(column: Ints, y: Floats) -> Ints:
    gap = np.isnan(y)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    which = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(column)))
    lowest = np.minimum.reduceat(np.where(gap, np.inf, y), starts)
    highest = np.maximum.reduceat(np.where(gap, -np.inf, y), starts)
    ends = np.append(starts[1:] - 1, len(column) - 1)
    return np.unique(
        np.concatenate(
            [
                starts,
                ends,
                _firsts(y == lowest[which], which),
                _firsts(y == highest[which], which),
                _firsts(gap, which),
                len(column) - 1 - _firsts(gap[::-1], which[::-1]),
            ]
        )
    )


def _firsts(chosen: NDArray[np.bool_], which: Ints) -> Ints:
    """The first chosen point of each column that has one."""
    index = np.flatnonzero(chosen)
    return np.asarray(index[np.diff(which[index], prepend=-1) != 0])
