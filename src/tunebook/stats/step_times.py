"""Times of repeated steps: what is warm-up, the usual time, and its spread.

Times are `(n,)`, in the order they were taken; none is 0 or below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tunebook.stats.arrays import Floats, usable
from tunebook.stats.curves import fit_ar1, running_median
from tunebook.stats.samples import Interval, median_absolute_deviation

FEWEST = 6
_WINDOW = 5
_SETTLED = 3.0
_NORMAL_TAIL = 1.959963984540054


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The median of the steps after warm-up with its 95% interval, their robust sd (`spread`), and
    how many there are."""

    median: Interval
    spread: float
    steps: int

    @property
    def log_error(self) -> float:
        """The standard error of the log of the median."""
        return math.log(self.median.high / self.median.low) / (2.0 * _NORMAL_TAIL)


def warm_up(times: ArrayLike, at_least: int = 1) -> int:
    """How many steps at the start belong to the warm-up: `at_least`, and at most half of them.

    It ends where the running median of 5 comes within 3 robust standard deviations (of such
    medians) of the later half, and a fiftieth of its level.

    >>> warm_up([9.0, 5.0, 3.0, 1.0, 1.1, 0.9, 1.0, 1.1, 0.9, 1.0, 1.1, 0.9])
    3
    """
    t = np.asarray(times, dtype=np.float64).ravel()
    half = len(t) // 2
    if half < _WINDOW:
        return min(at_least, len(t))
    later = t[half:]
    level = float(np.median(later))
    spread = median_absolute_deviation(running_median(later, _WINDOW)) or 0.0
    allowed = max(_SETTLED * spread, 0.02 * level)
    views = np.lib.stride_tricks.sliding_window_view(t, _WINDOW)[:half]
    settled = np.flatnonzero(np.abs(np.median(views, axis=1) - level) <= allowed)
    first = int(settled[0]) if len(settled) else half
    # The median is settled with two slow steps still in its window.
    alone = median_absolute_deviation(later) or 0.0
    while first < half and t[first] > level + max(2.0 * _SETTLED * alone, 0.1 * level):
        first += 1
    return max(min(first, half), min(at_least, len(t)))


def step_times(times: ArrayLike, at_least: int = 1, confidence: float = 0.95) -> StepTimes | None:
    """The usual time of a step, after warm-up; None for fewer than 6 steps after it.

    The interval lies between order statistics of the sample. Neighbouring steps are alike on a
    busy machine: their correlation moves the ends outwards, as if there were fewer of them.
    """
    t = np.asarray(times, dtype=np.float64).ravel()
    t = t[usable(t)]
    if np.any(t <= 0.0):
        raise ValueError(f"a step takes more than no time, got {t.min():g}")
    kept = t[warm_up(t, at_least) :]
    if len(kept) < FEWEST:
        return None
    low, high = _ends(kept, confidence)
    middle = float(np.median(kept))
    spread = median_absolute_deviation(kept) or 0.0
    return StepTimes(Interval(middle, low, high), spread, len(kept))


def _ends(times: Floats, confidence: float) -> tuple[float, float]:
    n = len(times)
    stretch = _stretch(times)
    places = np.arange(n // 2 + 1)
    fine = np.flatnonzero(special.bdtr(places, n, 0.5) <= (1.0 - confidence) / 2.0)
    exact = int(fine[-1]) + 1 if len(fine) else 0
    place = max(math.floor(n / 2.0 - (n / 2.0 - exact) * stretch), 0)
    ordered = np.sort(times)
    return float(ordered[place]), float(ordered[n - 1 - place])


def _stretch(times: Floats) -> float:
    """By what factor correlation widens the interval of a median.

    Above or below the median is what counts, whatever the size of outliers. Of two normal values
    with correlation r, these signs have (2 / pi) arcsin r.
    """
    n = len(times)
    noise = fit_ar1(np.sign(times - np.median(times)))
    if noise is None:
        return 1.0
    rho = math.sin(math.pi / 2.0 * noise.rho)
    lags = np.arange(1, n)
    signs = 2.0 / math.pi * np.arcsin(rho**lags)
    return math.sqrt(1.0 + 2.0 * float(signs @ (1.0 - lags / n)))
