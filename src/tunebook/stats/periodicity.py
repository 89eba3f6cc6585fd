"""Is there a rhythm in a curve? Its spectrum against that of AR(1) noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from tunebook.stats.arrays import Floats, usable
from tunebook.stats.curves import detrend
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

    The curve is detrended, the power at each frequency divided by that of AR(1) noise fitted to
    the rest, and the highest ratio compared with that of simulated AR(1) noise treated alike:
    detrended, refitted, searched. Periods from 2 points to a third of the curve are looked at.
    None for fewer than 24 finite values, or when nothing varies.
    """
    y = np.asarray(values, dtype=np.float64).ravel()
    y = y[usable(y)]
    n = len(y)
    if n < _FEWEST:
        return None
    residual = detrend(y, degree)
    if np.ptp(residual) <= max(1e-12 * np.abs(y).max(), 1e-100):
        return None
    found = _spectrum(residual[None, :], degree)
    place = int(np.argmax(found.ratios[0]))
    null = _spectrum(ar1_noise(float(found.rho[0, place]), draws, n, seed), degree)
    return Rhythm(
        float(1.0 / _frequencies(n)[place]),
        2.0 * math.sqrt(float(found.powers[0, place])) / n,
        tail_p(float(found.ratios[0, place]), null.ratios.max(axis=1)),
    )


def ar1_noise(rho: float, draws: int, n: int, seed: int) -> Floats:
    """AR(1) noise of unit variance, `(draws, n)`, in its stationary state from the first value."""
    shocks = np.random.default_rng(seed).standard_normal((draws, n))
    shocks[:, 1:] *= math.sqrt(1.0 - rho**2)
    series: Floats = lfilter([1.0], [1.0, -rho], shocks, axis=1)
    return series


def _frequencies(n: int) -> Floats:
    """Fourier frequencies, in cycles per point, from three cycles on."""
    return np.arange(3, n // 2 + 1) / n


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """Each frequency against AR(1) noise fitted to the others, all `(draws, m)`.

    Its power, its ratio to what the noise would give it, and the noise's rho.
    """

    powers: Floats
    ratios: Floats
    rho: Floats


def _spectrum(series: Floats, degree: int) -> _Spectrum:
    """The spectra of series `(draws, n)` after a polynomial trend is taken out.

    The noise is fitted without the frequency in question: a slow wave would otherwise pass for the
    correlation that explains it.
    """
    n = series.shape[1]
    basis = np.linalg.qr(np.polynomial.legendre.legvander(np.linspace(-1, 1, n), degree))[0]
    series = series - (series @ basis) @ basis.T
    powers = np.abs(np.fft.rfft(series, axis=1)[:, 3 : n // 2 + 1]) ** 2
    cosines = np.cos(2.0 * np.pi * _frequencies(n))
    waves = 2.0 * powers / n
    variance = (series**2).sum(axis=1, keepdims=True)
    covariance = (series[:, 1:] * series[:, :-1]).sum(axis=1, keepdims=True)
    rest = np.maximum(variance - waves, 0.05 * variance)
    raw = (covariance - waves * cosines) / rest
    # Taking out a trend lowers the correlation of what is left, on average by this.
    rho = np.clip((raw * n + degree + 1) / (n - degree - 3), 0.0, 0.98)
    white = 1.0 + rho**2
    others = powers.sum(axis=1, keepdims=True) - powers
    turned = (powers @ cosines)[:, None] - powers * cosines
    level = (white * others - 2.0 * rho * turned) / max(len(cosines) - 1, 1)
    return _Spectrum(powers, powers * (white - 2.0 * rho * cosines) / level, rho)
