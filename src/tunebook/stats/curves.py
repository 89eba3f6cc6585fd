"""One curve: its trend, its noise, whether it still improves, and since when it does not.

A curve is `values (n,)`, with `steps (n,)` where steps matter. Values that are not finite are left
out; a curve too short for an answer gives None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.ndimage import median_filter
from scipy.signal import lfilter

from tunebook.stats.arrays import Floats, usable

_FEWEST = 8
_NORMAL_MAD = 1.4826022185056018


@dataclass(frozen=True, slots=True)
class AR1:
    """Noise in which each value keeps `rho` of the one before; `sd` is that of a value."""

    rho: float
    sd: float

    @property
    def innovation_sd(self) -> float:
        return self.sd * math.sqrt(1.0 - self.rho**2)


@dataclass(frozen=True, slots=True)
class Slope:
    """The slope at the end of a curve: per step, its standard error, and one-sided p-values.

    `falling` is small when the curve still falls, `rising` when it rises. `span` is the number of
    steps it was measured over, so that `per_step * span` is the change.
    """

    per_step: float
    error: float
    falling: float
    rising: float
    span: float
    rho: float


def running_median(values: ArrayLike, window: int) -> Floats:
    """The median of the `window` values around each, `(n,)`; the ends are held. No NaN."""
    y = np.asarray(values, dtype=np.float64)
    smooth: Floats = median_filter(y, size=max(1, min(window, len(y))), mode="nearest")
    return smooth


def detrend(values: ArrayLike, degree: int = 2) -> Floats:
    """What is left of a curve after a robust polynomial in the position, `(n,)`. Finite values.

    Tukey's biweight keeps spikes from bending the trend.
    """
    y = np.asarray(values, dtype=np.float64)
    n = len(y)
    if n <= degree + 1:
        return np.zeros(n)
    basis = np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, n), degree)
    weights = np.ones(n)
    residuals = y
    for _ in range(10):
        root = np.sqrt(weights)[:, None]
        fit = np.linalg.lstsq(basis * root, y * root[:, 0], rcond=None)[0]
        residuals = y - basis @ fit
        scale = _NORMAL_MAD * float(np.median(np.abs(residuals)))
        if scale <= 0.0:
            break
        weights = np.clip(1.0 - (residuals / (6.0 * scale)) ** 2, 1e-6, None) ** 2
    return residuals


def fit_ar1(residuals: ArrayLike, fitted: int = 1) -> AR1 | None:
    """AR(1) noise of residuals `(n,)` from a fit with `fitted` coefficients.

    The lag-one correlation of residuals is too small on average; it is raised by the first-order
    bias, fitted (1 + rho) + 2 rho over n, and kept within 0 .. 0.98. None for fewer than 8.
    """
    e = np.asarray(residuals, dtype=np.float64).ravel()
    e = e[usable(e)]
    n = len(e)
    if n < _FEWEST:
        return None
    e = e - e.mean()
    power = float(e @ e)
    if power == 0.0:
        return AR1(0.0, 0.0)
    raw = float(e[1:] @ e[:-1]) / power
    rho = min(max((raw * n + fitted) / max(n - fitted - 2.0, 1.0), 0.0), 0.98)
    # The mean of n correlated values takes (1 + rho) / (1 - rho) / n of the variance with it.
    lost = min(fitted * (1.0 + rho) / (1.0 - rho) / n, 0.8)
    return AR1(rho, math.sqrt(power / n / (1.0 - lost)))


def late_noise(values: ArrayLike, share: float = 0.3) -> float | None:
    """The step-to-step standard deviation late in a curve, after von Neumann.

    Half the mean square of successive differences over the last `share` of the points (8 at
    least), after a robust detrending: neither the trend nor a slow drift counts as noise. None for
    fewer than 8 finite points.
    """
    y = np.asarray(values, dtype=np.float64).ravel()
    y = y[usable(y)]
    if len(y) < _FEWEST:
        return None
    late = y[-max(_FEWEST, math.ceil(share * len(y))) :]
    differences = np.diff(detrend(late, degree=1))
    return float(math.sqrt(np.mean(differences**2) / 2.0))


def end_slope(steps: ArrayLike, values: ArrayLike, share: float = 0.3) -> Slope | None:
    """The slope over the last `share` of a curve, with a standard error that knows of AR(1) noise.

    Least squares in the steps; the error takes the correlation of neighbouring residuals into
    account, and so do the degrees of freedom. None for fewer than 8 finite points.
    """
    x, y = _finite(steps, values)
    if len(y) < _FEWEST:
        return None
    count = max(_FEWEST, math.ceil(share * len(y)))
    x, y = x[-count:], y[-count:]
    span = float(x[-1] - x[0])
    if span <= 0.0:
        return None
    centred = x - x.mean()
    squares = float(centred @ centred)
    slope = float(centred @ y) / squares
    noise = fit_ar1(y - y.mean() - slope * centred, fitted=2)
    if noise is None:
        return None
    # Half a standard error is added: too low a correlation misleads more than too high a one.
    rho = min(noise.rho + 0.5 * math.sqrt((1.0 - noise.rho**2) / count), 0.98)
    # The form of the matrix rho**|i - j|, without the matrix: a curve may have a million points.
    before = lfilter([0.0, rho], [1.0, -rho], centred)
    variance = (squares + 2.0 * float(centred @ before)) * noise.sd**2 / squares**2
    error = math.sqrt(max(variance, 0.0))
    freedom = max(count * (1.0 - rho) / (1.0 + rho) - 2.0, 2.0)
    z = slope / error if error > 0.0 else math.copysign(math.inf, slope) if slope else 0.0
    falling, rising = (float(special.stdtr(freedom, side * z)) for side in (1.0, -1.0))
    return Slope(slope, error, falling, rising, span, rho)


def saturation_step(
    steps: ArrayLike, values: ArrayLike, tolerance: float, share: float = 0.1
) -> float | None:
    """The first step from which the smoothed curve stays within `tolerance` of its final level.

    The curve is smoothed by a running median over a twentieth of its points; the final level is
    the median of the last `share` (3 points at least). None for fewer than 8 finite points.

    >>> saturation_step(range(100), [max(50 - n, 0) for n in range(100)], tolerance=0.5)
    50.0
    """
    x, y = _finite(steps, values)
    n = len(y)
    if n < _FEWEST:
        return None
    smooth = running_median(y, 2 * max(1, n // 40) + 1)
    level = float(np.median(y[-max(3, math.ceil(share * n)) :]))
    outside = np.flatnonzero(np.abs(smooth - level) > tolerance)
    first = int(outside[-1]) + 1 if len(outside) else 0
    return float(x[min(first, n - 1)])


def _finite(steps: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    x = np.asarray(steps, dtype=np.float64).ravel()
    y = np.asarray(values, dtype=np.float64).ravel()
    if x.shape != y.shape:
        raise ValueError(f"each value needs a step, got {len(x)} steps and {len(y)} values")
    good = usable(y)
    return x[good], y[good]
