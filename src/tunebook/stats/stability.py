"""Is a training loss stable, unstable early, or unstable all of a sudden?

A curve is `steps (n,)` and `losses (n,)`, best with a point at every step: sparse evaluation misses
an early instability.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import median_filter, uniform_filter1d

from tunebook.stats.arrays import Floats, usable
from tunebook.stats.periodicity import ar1_noise
from tunebook.stats.samples import median_absolute_deviation
from tunebook.stats.tails import tail_p

FEWEST = 20
EARLY = 0.1
# A rise by less than this share harms nobody, however certain it is.
FACTOR = 1.2
_LEVEL = 0.01
_DRAWS = 300
SMALLEST = 1e-12
_LAGS = (2, 4)


class Kind(enum.StrEnum):
    """How a training goes."""

    STABLE = "stable"
    EARLY = "early instability"
    SUDDEN = "sudden instability"


@dataclass(frozen=True, slots=True)
class Stability:
    """The kind; where the rise begins, its factor at the peak, and p that noise rises as much.

    `onset` is None for a stable curve. `recovered` when the curve ends back within half the rise,
    in logs, of the lowest level before it.
    """

    kind: Kind
    onset: float | None
    factor: float
    p: float
    recovered: bool


def training_stability(
    steps: ArrayLike,
    losses: ArrayLike,
    early: float | None = None,
    level: float = _LEVEL,
    seed: int = 0,
    *,
    offset: float = 0.0,
) -> Stability | None:
    """Whether a loss rises above its lowest level so far, by 20% and more than noise does.

    The log of the loss is smoothed twice, by a median of 3 and by a mean over a tenth; the rise
    of each above its lowest value so far is compared with that of AR(1) noise on a plateau, which
    rises more than noise on a curve that falls. The noise is taken from differences of neighbours,
    which a blow-up hardly touches. A loss that is not finite is a rise without end. An instability
    is early when it begins by the step `early`, a tenth of the curve where not said. None for
    fewer than 20 losses above 0 before the first that is not finite, unless there is such a one.

    `offset` is added to losses before their rise is measured in percent: beside it, a rise from
    next to nothing is none. Whether noise rises as much is asked of the losses as they are, in
    whose logs the noise of a batch is alike from the first step to the last.
    """
    x = np.asarray(steps, dtype=np.float64).ravel()
    y = np.asarray(losses, dtype=np.float64).ravel()
    if x.shape != y.shape:
        raise ValueError(f"each loss needs a step, got {len(x)} steps and {len(y)} losses")
    if not len(y):
        return None
    until = early if early is not None else float(x[0]) + EARLY * float(x[-1] - x[0])
    bad = np.flatnonzero(~usable(y))
    end = int(bad[0]) if len(bad) else len(y)
    before = y[:end]
    if len(before) >= FEWEST and np.all(before > SMALLEST):
        onset, factor, p, recovered = _rise(before, offset, level / 2.0, seed)
    else:
        onset, factor, p, recovered = None, 1.0, 1.0, False
        if end == len(y):
            return None
    if end < len(y):
        onset = end if onset is None or recovered else onset
        factor, p, recovered = math.inf, 0.0, False
    if onset is None:
        return Stability(Kind.STABLE, None, factor, p, True)
    kind = Kind.EARLY if x[onset] <= until else Kind.SUDDEN
    return Stability(kind, float(x[onset]), factor, p, recovered)


def _rise(
    losses: Floats, offset: float, level: float, seed: int
) -> tuple[int | None, float, float, bool]:
    """Onset, factor, p-value and recovery of the surer of two rises: a short and a long one."""
    log, sized = np.log(losses)[None, :], np.log(losses + offset)[None, :]
    noise = _noise(log[0])
    null = noise.sd * ar1_noise(noise.rho, _DRAWS, len(losses), seed)
    found = []
    for smooth in (_short, _long):
        rises, sizes = _rises(smooth(log))[0], _rises(smooth(sized))[0]
        large = sizes >= math.log(FACTOR)
        height = float(rises[large].max(initial=0.0))
        usual = _rises(smooth(null))
        p = tail_p(height, usual.max(axis=1)) if height > 0.0 else 1.0
        found.append((p, float(sizes.max()), sizes, float(np.median(usual))))
    p, size, sizes, level_of_noise = min(found, key=lambda one: (one[0], -one[1]))
    p = min(2.0 * p, 1.0)
    if p > 2.0 * level:
        return None, math.exp(size), p, True
    peak = int(np.argmax(sizes))
    calm = np.flatnonzero(sizes[:peak] < min(level_of_noise, size / 2.0))
    onset = int(calm[-1]) + 1 if len(calm) else 0
    recovered = bool(np.min(sizes[peak:]) < size / 2.0 and sizes[-1] < size / 2.0)
    return onset, math.exp(size), p, recovered


@dataclass(frozen=True, slots=True)
class _Noise:
    rho: float
    sd: float


def _noise(log: Floats) -> _Noise:
    """AR(1) noise from differences of neighbours: they hardly know of trends and jumps.

    Differences over k points have a variance of 2 sd^2 (1 - rho^k).
    """
    one = median_absolute_deviation(np.diff(log)) or SMALLEST
    ratios = [(median_absolute_deviation(log[k:] - log[:-k]) or SMALLEST) / one for k in _LAGS]
    grid = np.linspace(0.0, 0.98, 99)
    misses = sum(
        (np.log((1.0 - grid**k) / (1.0 - grid)) - 2.0 * math.log(ratio)) ** 2
        for k, ratio in zip(_LAGS, ratios, strict=True)
    )
    # Half a standard error is added: too low a correlation misleads more than too high a one.
    rho = float(grid[np.argmin(misses)])
    rho = min(rho + 0.5 * math.sqrt((1.0 - rho**2) / len(log)), 0.98)
    return _Noise(rho, one / math.sqrt(2.0 * (1.0 - rho)))


def _short(rows: Floats) -> Floats:
    return np.asarray(median_filter(rows, size=(1, 3), mode="nearest"))


def _long(rows: Floats) -> Floats:
    window = max(5, rows.shape[1] // 10)
    return np.asarray(uniform_filter1d(rows, window, axis=1, mode="nearest"))


def _rises(rows: Floats) -> Floats:
    """How far each value of a row is above the lowest so far."""
    return np.asarray(rows - np.minimum.accumulate(rows, axis=1))
