"""Is there a rhythm in a curve? Its spectrum against that of AR(1) noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from tunebook.stats.arrays import Floats
from tunebook.stats.curves import detrend, fit_ar1
from tunebook.stats.tails import tail_p

_FEWEST = 24


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The strongest period, in points; the amplitude of its sine; p of the strongest of all."""

    period: float
    amplitude: float
    p: float


def strongest_period(
    values: ArrayLike, degree: int = 3, draws: int = 400, seed: int = 0
) -> Rhythm | None:
    """The strongest rhythm of evenly spaced values `(n,)`.

    The curve is detrended, its spectrum divided by that of AR(1) noise fitted to it, and the
    highest ratio compared with that of simulated AR(1) noise treated alike: detrended, refitted,
    searched. Periods from 2 points to a third of the curve are looked at. None for fewer than 24
    finite values, or when nothing varies.
    """
    y = np.asarray(values, dtype=np.float64).ravel()
    y = y[np.isfinite(y)]
    n = len(y)
    if n < _FEWEST:
        return None
    residual = detrend(y, degree)
    noise = fit_ar1(residual, fitted=degree + 1)
    if noise is None or noise.sd == 0.0:
        return None
    ratios, powers = _spectrum(residual[None, :], degree)
    best = int(np.argmax(ratios[0]))
    null = _spectrum(ar1_noise(noise.rho, draws, n, seed), degree)[0].max(axis=1)
    frequency = _frequencies(n)[best]
    amplitude = 2.0 * math.sqrt(float(powers[0, best])) / n
    return Rhythm(1.0 / frequency, amplitude, tail_p(float(ratios[0, best]), null))


def ar1_noise(rho: float, draws: int, n: int, seed: int) -> Floats:
    """AR(1) noise of unit variance, `(draws, n)`, in its stationary state from the first value."""
    shocks = np.random.default_rng(seed).standard_normal((draws, n))
    shocks[:, 1:] *= math.sqrt(1.0 - rho**2)
    series: Floats = lfilter([1.0], [1.0, -rho], shocks, axis=1)
    return series


def _frequencies(n: int) -> Floats:
    """Fourier frequencies, in cycles per point, from three cycles on."""
    return np.arange(3, n // 2 + 1) / n


def _spectrum(series: Floats, degree: int) -> tuple[Floats, Floats]:
    """Power at each frequency over that of fitted AR(1) noise, and the power, `(draws, m)`."""
    n = series.shape[1]
    basis = np.linalg.qr(np.polynomial.legendre.legvander(np.linspace(-1, 1, n), degree))[0]
    series = series - (series @ basis) @ basis.T
    power = np.abs(np.fft.rfft(series, axis=1)[:, 3 : n // 2 + 1]) ** 2
    total = (series**2).sum(axis=1)
    raw = (series[:, 1:] * series[:, :-1]).sum(axis=1) / total
    rho = np.clip((raw * n + degree + 1) / (n - degree - 3), 0.0, 0.98)[:, None]
    shape = 1.0 / (1.0 + rho**2 - 2.0 * rho * np.cos(2.0 * np.pi * _frequencies(n)))
    expected = shape * (power / shape).mean(axis=1, keepdims=True)
    return power / expected, power
