"""How many more trials a gain would need: the lower tail of the losses, as a noisy quadratic.

Near its optimum a smooth loss is a quadratic of the parameters that matter, c of them. Points that
fall there at random then have losses with F(y) proportional to (y - floor)^(c/2), blurred by the
noise of training. After Lourie, He and Cho, "Hyperparameter Loss Surfaces Are Simple Near their
Optima", 2025. Lower is better; +inf is an infeasible trial, NaN one that tells nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.stats import kstwo

from tunebook.stats.arrays import Floats

_FEWEST = 20
_LARGEST = 1e30
_FEWEST_IN_TAIL = 10
_MOST_IN_TAIL = 64
_DIMENSIONS = (1, 2, 3, 4, 5, 6, 8, 10)
# In units of the spread of the tail, from the best trial: far below, to somewhat above (where the
# best trial was lucky).
_FLOORS = np.concatenate([-np.geomspace(8.0, 0.02, 22), [0.0], np.linspace(0.05, 1.0, 12)])
_NOISES = np.geomspace(0.02, 0.6, 12)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
# A fit with parameters of its own is closer than a true one, so little misfit is called one.
_MISFIT = 0.2
_NEGLIGIBLE = 10.0


@dataclass(frozen=True, slots=True)
class MoreTrials:
    """Trials after which a gain is as likely as not, with a 95% interval; +inf means never."""

    trials: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class TailFit:
    """A noisy quadratic fitted to the best trials.

    `floor` is the lowest loss without noise, with its 95% interval; `noise` the standard deviation
    of training, `dimension` the number of parameters that matter near the optimum. Estimates are
    medians, and intervals quantiles, over `candidates (m, 4)`: rows of floor, noise, dimension and
    scale, with `weights (m,)` by their likelihood.
    """

    best: float
    floor: float
    floor_low: float
    floor_high: float
    noise: float
    dimension: int
    tail: int
    trials: int
    candidates: Floats
    weights: Floats

    def more_trials(self, gain: float) -> MoreTrials:
        """How many new trials give, as likely as not, a loss lower than the best by `gain`.

        The loss is one that is measured, with its noise.
        """
        floors, noises, dimensions, scales = self.candidates.T
        chances = (
            scales
            * _mass(np.full((len(floors), 1), self.best - gain), floors, noises, dimensions).ravel()
        )
        with np.errstate(divide="ignore"):
            needed = math.log(0.5) / np.log1p(-np.clip(chances, 0.0, 1.0 - 1e-9))
        needed = np.where(chances > 0.0, np.maximum(needed, 1.0), np.inf)
        low, middle, high = _quantiles(needed, self.weights)
        return MoreTrials(middle, low, high)


def tail_fit(losses: ArrayLike, noise: float | None = None) -> TailFit | None:
    """Fit the lower tail of losses `(n,)`; `noise` where the sd of training is known.

    The best half of the trials is tried first, then less, while at least 10 are left: the first
    tail that a noisy quadratic does not misfit is taken. None for fewer than 20 trials, and when
    no tail fits.
    """
    y = np.asarray(losses, dtype=np.float64).ravel()
    y = np.sort(y[y > -_LARGEST])
    n, feasible = len(y), int(np.count_nonzero(y < _LARGEST))
    if n < _FEWEST:
        return None
    for share in (0.5, 0.35, 0.25):
        count = min(round(share * n), feasible - 1, _MOST_IN_TAIL)
        if count >= _FEWEST_IN_TAIL:
            fit = _fit(y, count, noise)
            if fit is not None:
                return fit
    return None


def _fit(y: Floats, count: int, noise: float | None) -> TailFit | None:
    """Given the next loss, the `count` losses below it are a sample of F cut off there."""
    tail, edge = y[:count], float(y[count])
    spread = edge - float(tail[0])
    if spread <= 1.0 / _LARGEST:
        return None
    scaled = (tail - tail[0]) / spread
    noises = _NOISES if noise is None else np.array([max(noise / spread, _NOISES[0] / 4)])
    floor, sd, dimension = (
        axis.ravel()
        for axis in np.meshgrid(_FLOORS, noises, np.array(_DIMENSIONS, dtype=float), indexing="ij")
    )
    density, total = _on_candidates(scaled, floor, sd, dimension)
    with np.errstate(divide="ignore"):
        likelihood = np.log(density).sum(axis=1) - count * np.log(total)
    likelihood = np.where(total > 1e-300, likelihood, -np.inf)
    if not np.isfinite(likelihood.max()):
        return None
    best = np.array([np.argmax(likelihood)])
    reached = _mass(scaled[None, :], floor[best], sd[best], dimension[best])[0] / total[best]
    if _misfit(reached) < _MISFIT:
        return None
    kept = likelihood > likelihood.max() - _NEGLIGIBLE
    floor, sd, dimension, total = floor[kept], sd[kept], dimension[kept], total[kept]
    weights = np.exp(likelihood[kept] - likelihood.max())
    weights /= weights.sum()
    # F is in units of the spread here, and in those of the loss outside: r^c scales with it.
    scale = count / len(y) / total * spread ** (-dimension / 2.0)
    low, middle, high = _quantiles(tail[0] + spread * floor, weights)
    return TailFit(
        float(tail[0]),
        middle,
        low if low > tail[0] + spread * _FLOORS[1] else -math.inf,
        high,
        spread * _quantiles(sd, weights)[1],
        int(_quantiles(dimension, weights)[1]),
        count,
        len(y),
        np.column_stack([tail[0] + spread * floor, spread * sd, dimension, scale]),
        weights,
    )


def _quantiles(values: Floats, weights: Floats) -> tuple[float, float, float]:
    """The ends and the middle of the weighted 95%."""
    order = np.argsort(values, kind="stable")
    places = np.searchsorted(np.cumsum(weights[order]), (0.025, 0.5, 0.975))
    low, middle, high = values[order[np.minimum(places, len(values) - 1)]].tolist()
    return low, middle, high


def _misfit(reached: Floats) -> float:
    """Kolmogorov's p-value of values that should be uniform."""
    n = len(reached)
    ordered = np.sort(reached)
    up, down = np.arange(1, n + 1) / n - ordered, ordered - np.arange(n) / n
    return float(kstwo.sf(max(up.max(), down.max()), n))


def _on_candidates(
    scaled: Floats, floor: Floats, sd: Floats, dimension: Floats
) -> tuple[Floats, Floats]:
    """Density at each loss `(candidates, count)` and mass below 1 `(candidates,)`, unnormalised."""
    total = _mass(np.ones((len(floor), 1)), floor, sd, dimension)[:, 0]
    r, width, _ = _nodes(scaled[None, :], floor, sd)
    z = (scaled[None, :, None] - floor[:, None, None] - r**2) / sd[:, None, None]
    kernel = np.exp(-0.5 * z**2) * r ** (dimension[:, None, None] - 1.0)
    norm = dimension / (sd * math.sqrt(2.0 * math.pi))
    return (kernel @ _WEIGHTS) * width * norm[:, None], total


def _mass(y: Floats, floor: Floats, sd: Floats, dimension: Floats) -> Floats:
    """F up to its scale, `(candidates, m)` at `y (candidates or 1, m)`.

    The integral over the distance r from the optimum of c r^(c-1) P(floor + r^2 + noise <= y).
    """
    r, width, low = _nodes(y, floor, sd)
    z = (y[:, :, None] - floor[:, None, None] - r**2) / sd[:, None, None]
    c = dimension[:, None]
    inner = (special.ndtr(z) * r ** (c[:, :, None] - 1.0)) @ _WEIGHTS
    return np.asarray(low**c + c * inner * width)


def _nodes(y: Floats, floor: Floats, sd: Floats) -> tuple[Floats, Floats, Floats]:
    """Distances r at which noise decides whether a loss is below y: nodes, half width, low end."""
    above = y - floor[:, None]
    reach = 7.0 * sd[:, None]
    low = np.sqrt(np.maximum(above - reach, 0.0))
    high = np.sqrt(np.maximum(above + reach, 0.0))
    width = (high - low) / 2.0
    return (low + width)[:, :, None] + width[:, :, None] * _NODES, width, low
