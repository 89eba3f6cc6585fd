"""A normal sample of which some values are known only to lie between two bounds.

Values are the bounds `low (n,)` and `high (n,)`: equal for a value that is known, +inf above for
one that was not reached. The mean of each is a common level plus a known offset, and the standard
deviation is common. Rows `(m, n)` of offsets are m such models, fitted at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import special

from tunebook.stats.arrays import Bools, Floats

# Value, gradient and Hessian.
Bent: TypeAlias = tuple[Floats, Floats, Floats]

_STEPS = 40
_HALVINGS = 30
_ENOUGH = 1e-8
_EXACT = 1e-6
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True, eq=False)
class Levels:
    """Fits of m models: level, standard deviation and log-likelihood, each `(m,)`."""

    level: Floats
    sd: Floats
    likelihood: Floats


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of n values; `least` is a residual that is always there, so that no sd is zero.

    It counts like one more residual of that size. Without it, values that all fit within their
    bounds would have no largest likelihood.
    """

    low: Floats
    high: Floats
    least: float = 0.01

    @property
    def exact(self) -> Bools:
        return np.asarray(self.high - self.low <= _EXACT)

    def fit(self, offsets: Floats) -> Levels:
        """The level and sd of largest likelihood for offsets `(m, n)`."""
        low, high = self.low - offsets, self.high - offsets
        if self.exact.all():
            return self._about(low, low.mean(axis=1))
        middle = np.where(np.isfinite(high), (low + high) / 2.0, low)
        level = middle.mean(axis=1)
        sd = np.sqrt(((middle - level[:, None]) ** 2).mean(axis=1) + self.least**2)
        state = np.column_stack([level / sd, 1.0 / sd])
        state, value = _climb(state, lambda s: self._at(s, low, high))
        return Levels(state[:, 0] / state[:, 1], 1.0 / state[:, 1], value)

    def fit_sd(self, offsets: Floats, sd: Floats) -> Levels:
        """The same with the level held at 0; `sd (m,)` is where to begin."""
        low, high = self.low - offsets, self.high - offsets
        zero = np.zeros((len(offsets), 1))
        if self.exact.all():
            return self._about(low, zero[:, 0])

        def at(s: Floats) -> Bent:
            value, slope, bend = self._at(np.hstack([zero, s]), low, high)
            return value, slope[:, 1:], bend[:, 1:, 1:]

        state, value = _climb(1.0 / sd[:, None], at)
        return Levels(zero[:, 0], 1.0 / state[:, 0], value)

    def _about(self, values: Floats, level: Floats) -> Levels:
        """The sd of known values about a level has a closed form."""
        n = values.shape[1]
        sd = np.sqrt((((values - level[:, None]) ** 2).sum(axis=1) + self.least**2) / n)
        return Levels(level, sd, -n * (np.log(sd) + _HALF_LOG_TWO_PI + 0.5))

    def _at(self, state: Floats, low: Floats, high: Floats) -> Bent:
        """Log-likelihood `(m,)`, gradient `(m, 2)`, Hessian `(m, 2, 2)` in level/sd and 1/sd.

        In these the log-likelihood is concave (Burridge, "A note on maximum likelihood estimation
        for regression models using grouped data", 1981).
        """
        a, t = state[:, :1], state[:, 1:]
        exact = self.exact
        u, v = t * low - a, t * high - a
        known = np.where(exact, u, 0.0)
        mass, du, dv = (np.zeros_like(u) for _ in range(3))
        if not exact.all():
            with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                ends = u[:, ~exact], v[:, ~exact]
                mass[:, ~exact] = _log_between(*ends)
                for slope, z in zip((du, dv), ends, strict=True):
                    slope[:, ~exact] = np.exp(-0.5 * z * z - _HALF_LOG_TWO_PI - mass[:, ~exact])
        end = np.isfinite(high)
        high, v = np.where(end, high, 0.0), np.where(end, v, 0.0)
        value = mass.sum(axis=1) + np.where(
            exact, np.log(t) - 0.5 * known**2 - _HALF_LOG_TWO_PI, 0.0
        ).sum(axis=1)
        ga, gt = du - dv, high * dv - low * du
        haa = (u * du - v * dv) - ga * ga
        hat = -(low * u * du - high * v * dv) - ga * gt
        htt = (low**2 * u * du - high**2 * v * dv) - gt * gt
        ga = np.where(exact, known, ga)
        gt = np.where(exact, 1.0 / t - known * low, gt)
        haa = np.where(exact, -1.0, haa)
        hat = np.where(exact, low, hat)
        htt = np.where(exact, -1.0 / t**2 - low**2, htt)
        rest = self.least**2
        tau = t[:, 0]
        gradient = np.column_stack([ga.sum(axis=1), gt.sum(axis=1) - rest * tau])
        mixed = hat.sum(axis=1)
        hessian = np.stack(
            [
                np.column_stack([haa.sum(axis=1), mixed]),
                np.column_stack([mixed, htt.sum(axis=1) - rest]),
            ],
            axis=1,
        )
        return value - 0.5 * rest * tau**2, gradient, hessian


def _log_between(u: Floats, v: Floats) -> Floats:
    """log(Phi(v) - Phi(u)) for u < v, taken in the lower tail, where it is precise."""
    flip = u + v > 0.0
    low, high = np.where(flip, -v, u), np.where(flip, -u, v)
    top = special.log_ndtr(high)
    return np.asarray(top + np.log(-np.expm1(np.minimum(special.log_ndtr(low) - top, -1e-300))))


def _climb(state: Floats, at: Callable[[Floats], Bent]) -> tuple[Floats, Floats]:
    """Newton's method on m concave functions at once, halving steps that do not climb.

    The last coordinate stays above 0. Gives the places `(m, size)` and the values `(m,)` there.
    """
    value, slope, bend = at(state)
    ridge = 1e-9 * np.eye(state.shape[1])
    for _ in range(_STEPS):
        step = np.linalg.solve(ridge - bend, slope[..., None])[..., 0]
        share = np.ones((len(state), 1))
        for _ in range(_HALVINGS):
            new = state + share * step
            fine = new[:, -1] > 0.0
            new[~fine] = state[~fine]
            found = at(new)
            worse = ~(fine & (found[0] >= value - _ENOUGH))
            if not worse.any():
                break
            share[worse] /= 2.0
        gained = found[0] - value
        state, (value, slope, bend) = new, found
        if np.all(np.abs(gained) < _ENOUGH * (1.0 + np.abs(value))):
            break
    return state, value
