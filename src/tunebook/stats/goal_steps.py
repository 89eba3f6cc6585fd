"""At which step a noisy curve reaches a level for good, such as a training set that is fitted.

A curve is `steps (n,)` and `values (n,)`, lower is better; what is not finite misses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tunebook.stats.arrays import Floats, usable

WINDOW = 5
# Of the later means so many may miss the level: now and then a batch holds a hard example.
STRAYS = 0.05


@dataclass(frozen=True, slots=True)
class Reached:
    """The goal was reached after one step and until another.

    `after` is the last step known to miss it and `until` the first known to meet it; +inf, with
    `after` the last step there is, when it was never reached.
    """

    after: float
    until: float

    @property
    def reached(self) -> bool:
        return math.isfinite(self.until)


def step_of_goal(
    steps: ArrayLike, values: ArrayLike, level: float = 0.0, window: int = WINDOW
) -> Reached | None:
    """When the mean over a window comes down to `level` and stays; None without values.

    The mean of `window` values smooths what batches add to a training error; a window of 1 takes
    the values as they are. It stays when at most 5% of the later means miss the level, and the last
    does not. Since a mean looks over a whole window, so does the answer: from before the window's
    first value that could have met the level to the window's end.

    >>> step_of_goal([10, 20, 30, 40], [0.3, 0.1, 0.0, 0.0], window=1)
    Reached(after=20.0, until=30.0)
    """
    x = np.asarray(steps, dtype=np.float64).ravel()
    y = np.asarray(values, dtype=np.float64).ravel()
    if x.shape != y.shape:
        raise ValueError(f"each value needs a step, got {len(x)} steps and {len(y)} values")
    if window < 1:
        raise ValueError(f"a window holds at least one value, got {window}")
    if not len(y):
        return None
    window = min(window, len(y))
    means = _means(np.where(usable(y), y, math.inf), window)
    missed = means > level + 1e-12 * max(abs(level), 1e-300)
    if missed[-1]:
        return Reached(float(x[-1]), math.inf)
    first = _first_to_stay(missed)
    begin = _first_to_meet(y, first, window, level)
    return Reached(float(x[begin - 1]) if begin else 0.0, float(x[_last(y, first, window, level)]))


def _means(values: Floats, window: int) -> Floats:
    """The means of all windows, `(n - window + 1,)`."""
    views = np.lib.stride_tricks.sliding_window_view(values, window)
    return np.asarray(views.mean(axis=1))


def _first_to_stay(missed: np.ndarray) -> int:
    """The first window that meets the level, with few later ones that miss it."""
    later = np.cumsum(missed[::-1])[::-1]
    left = np.arange(len(missed), 0, -1)
    return int(np.flatnonzero(~missed & (later <= STRAYS * left))[0])


def _first_to_meet(values: Floats, first: int, window: int, level: float) -> int:
    """The first value of the window that meets the level by itself."""
    inside = np.flatnonzero(values[first : first + window] <= level)
    return first + int(inside[0])


def _last(values: Floats, first: int, window: int, level: float) -> int:
    """The end of the window; where all of it meets the level, its beginning."""
    whole = bool(np.all(values[first : first + window] <= level))
    return first if whole else first + window - 1
