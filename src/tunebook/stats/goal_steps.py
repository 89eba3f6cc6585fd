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
# Of a level: what is above it by less is rounding.
ROUNDING = 1e-12


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
    y = np.where(usable(y), y, math.inf)
    # One limit for means and for single values: 1 - 0.999 is above 0.001 by a rounding.
    limit = level + ROUNDING * abs(level)
    missed = _means(y, window) > limit
    if missed[-1]:
        return Reached(float(x[-1]), math.inf)
    first = _first_to_stay(missed)
    # A mean is rounded, too: the lowest value of a window that meets the limit meets it.
    inside = y[first : first + window]
    meets = inside <= max(limit, float(inside.min()))
    begin = first + int(np.flatnonzero(meets)[0])
    last = first if bool(np.all(meets)) else first + window - 1
    return Reached(float(x[begin - 1]) if begin else 0.0, float(x[last]))


def _means(values: Floats, window: int) -> Floats:
    """The means of all windows, `(n - window + 1,)`."""
    views = np.lib.stride_tricks.sliding_window_view(values, window)
    return np.asarray(views.mean(axis=1))


def _first_to_stay(missed: np.ndarray) -> int:
    """The first window that meets the level, with few later ones that miss it."""
    later = np.cumsum(missed[::-1])[::-1]
    left = np.arange(len(missed), 0, -1)
    return int(np.flatnonzero(~missed & (later <= STRAYS * left))[0])
