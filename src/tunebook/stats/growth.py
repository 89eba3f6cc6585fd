"""Does a series keep growing, such as memory over steps? Jumps and plateaus are no growth.

A series is `steps (n,)` and `values (n,)`; values that are not finite are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tunebook.stats.arrays import Floats, usable
from tunebook.stats.samples import Interval

FEWEST = 30
# What comes before belongs to the warm-up: caches fill, and the allocator takes what it needs.
WARM_UP = 0.25
_BLOCKS = 14
# Two jumps are what an allocator may do late; as many falls are left out on the other side.
_JUMPS = 2


@dataclass(frozen=True, slots=True)
class Growth:
    """How fast a series grows for each step, with a 95% interval, and the one-sided p-value.

    `p` is small when it grows by more than the least slope asked about.
    """

    per_step: Interval
    p: float


def growth(
    steps: ArrayLike,
    values: ArrayLike,
    least: float = 0.0,
    warm_up: float = WARM_UP,
    confidence: float = 0.95,
) -> Growth | None:
    """The steady growth of a series after its warm-up; None for fewer than 30 values.

    The rest is cut into 14 blocks. The increases between the medians of neighbouring blocks are
    averaged without the two largest and the two smallest, with the error of a trimmed mean (Yuen,
    1974): one or two jumps are not growth, whenever they come, and a leak that grows in many small
    jumps is. Noise that is correlated makes neighbouring increases cancel, so the test is on the
    safe side. A straight line, even a robust one, takes a jump for a slope.
    """
    x = np.asarray(steps, dtype=np.float64).ravel()
    y = np.asarray(values, dtype=np.float64).ravel()
    if x.shape != y.shape:
        raise ValueError(f"each value needs a step, got {len(x)} steps and {len(y)} values")
    good = usable(y)
    x, y = x[good], y[good]
    if len(y) < FEWEST:
        return None
    late = math.ceil(warm_up * len(y))
    blocks = np.array_split(np.arange(late, len(y)), _BLOCKS)
    places = np.array([np.median(x[block]) for block in blocks])
    # A middle value and no mean of two: a block with a jump in it is at one of its two levels.
    levels = np.array([np.sort(y[block])[len(block) // 2] for block in blocks])
    gaps = np.diff(places)
    if np.any(gaps <= 0.0):
        raise ValueError("the steps of a series must increase")
    slopes = np.diff(levels) / gaps
    mean, error, freedom = _trimmed(np.sort(slopes))
    # Differences of equal numbers leave rounding errors, which are no growth.
    error = max(error, 1e-12 * float(np.abs(levels).max()) / float(gaps.mean()))
    t = (mean - least) / error if error > 0.0 else 0.0
    half = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * error
    return Growth(Interval(mean, mean - half, mean + half), float(special.stdtr(freedom, -t)))


def _trimmed(ordered: Floats) -> tuple[float, float, int]:
    """The mean without the ends, its standard error, and the degrees of freedom."""
    n = len(ordered)
    kept = ordered[_JUMPS : n - _JUMPS]
    held = np.clip(ordered, kept[0], kept[-1])
    inner = len(kept)
    error = math.sqrt(float(((held - held.mean()) ** 2).sum()) / (inner * (inner - 1)))
    return float(kept.mean()), error, inner - 1
