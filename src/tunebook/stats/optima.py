"""Where the optimum of a setting lies, and what further tuning would gain: by sample paths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import qmc

from tunebook.stats.gaussian_process import GaussianProcess
from tunebook.stats.kernels import Array

DRAWS = 16
PATHS = 512
_SPREAD_CANDIDATES = 128
_LOCAL_CANDIDATES = 96


@dataclass(frozen=True, slots=True)
class Optimum:
    """Paths of f, minimised: row by row the least value, where it is taken, and the gain.

    `found` is the point, among the tried ones, with the best posterior mean; `gains` holds
    f(found) - min f of each path, so that its mean is the expected remaining gain.
    """

    found: Array
    values: Array
    places: Array
    gains: Array

    @property
    def remaining_gain(self) -> float:
        return float(np.mean(self.gains))

    def bounded(self, least: float) -> Optimum:
        """The same where no loss can be below `least`: an error rate has no optimum under 0."""
        at_found = np.maximum(self.values + self.gains, least)
        values = np.maximum(self.values, least)
        return replace(self, values=values, gains=at_found - values)

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """The central interval of the least value."""
        low, high = np.quantile(self.values, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def optimum(process: GaussianProcess, seed: int = 0, paths: int = PATHS) -> Optimum:
    """Joint sample paths at candidates, over plausible hyperparameters.

    >>> from tunebook.stats.gaussian_process import fit
    >>> grid = np.linspace(0, 1, 12)[:, None]
    >>> result = optimum(fit(grid, (grid[:, 0] - 0.3) ** 2))
    >>> bool(abs(np.median(result.places) - 0.3) < 0.05)
    True
    """
    random = np.random.default_rng(seed)
    places = candidates(process, random)
    found = _best_tried(process)
    everywhere = np.concatenate([process.points[found][None], places])
    drawn = np.concatenate(
        [one.sample(everywhere, paths // DRAWS, random) for one in process.draws(DRAWS, random)]
    )
    least = np.argmin(drawn, axis=1)
    values = drawn[np.arange(len(drawn)), least]
    return Optimum(process.points[found], values, everywhere[least], drawn[:, 0] - values)


def candidates(process: GaussianProcess, random: np.random.Generator) -> Array:
    """Points at which paths are minimised.

    A scrambled Sobol sequence, its corners of promise, the tried points, and refinements about
    those with the best mean or the best chance. Categories take tried codes.
    """
    spread = quasi_random(process, 4 * _SPREAD_CANDIDATES, random)
    mean, variance = process.predict(spread)
    promising = np.argsort(mean - 2.0 * np.sqrt(variance))[:_SPREAD_CANDIDATES]
    tried = np.unique(process.points, axis=0)
    tried = tried[np.argsort(process.mean(tried), kind="stable")][:_SPREAD_CANDIDATES]
    found = np.concatenate([spread[promising], tried])
    numeric = ~process.categories
    for width in (0.15, 0.05):
        mean, variance = process.predict(found)
        centres = [
            np.argsort(mean - caution * np.sqrt(variance), kind="stable")[:4]
            for caution in (0.0, 2.0)
        ]
        about = np.repeat(found[np.concatenate(centres)], _LOCAL_CANDIDATES // 16, axis=0)
        steps = width * random.standard_normal(about.shape)
        about[:, numeric] = np.clip(about + steps, 0.0, 1.0)[:, numeric]
        found = np.concatenate([found, about])
    return np.unique(found, axis=0)


def quasi_random(process: GaussianProcess, count: int, random: np.random.Generator) -> Array:
    """`count` (a power of 2) scrambled Sobol points; a category takes the codes of the data."""
    found = np.asarray(qmc.Sobol(process.dimensions, rng=random).random(count))
    for column in np.flatnonzero(process.categories):
        codes = np.unique(process.points[:, column])
        found[:, column] = codes[(found[:, column] * len(codes)).astype(int)]
    return found


def _best_tried(process: GaussianProcess) -> int:
    return int(np.argmin(process.mean(process.points)))
