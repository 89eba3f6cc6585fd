"""Which parameters matter: shares of variance, effects in units of the noise, and tests.

Shares come from the posterior mean of a Gaussian process: they describe what was seen, and are
no evidence that a parameter matters. Evidence is a permutation test: `matters` for one parameter,
`anything_matters` for all of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular
from scipy.stats import norm, qmc, rankdata

from tunebook.stats.gaussian_process import GaussianProcess, fit
from tunebook.stats.kernels import Array, Mask, matern, squared_differences

_SAMPLES = 1024
_TEST_LENGTH = 0.5


@dataclass(frozen=True, slots=True)
class Effect:
    """The main effect of one parameter: the mean of f over the others, along `line`."""

    line: Array
    mean: Array
    deviation: Array
    noise: float

    @property
    def in_noise(self) -> float:
        """The range of the effect in units of the noise of one loss."""
        return float(np.ptp(self.mean)) / self.noise


@dataclass(frozen=True, slots=True)
class Importance:
    """Shares of the variance of the posterior mean over the cube.

    `first` (d,) is due to a parameter alone, `total` (d,) to it and all its interactions,
    `pairs` (d, d) to two together beyond what each does alone; `effects` has one for each, where
    they were asked for.
    """

    first: Array
    total: Array
    pairs: Array
    effects: tuple[Effect, ...]


def importance(process: GaussianProcess, seed: int = 0, *, effects: bool = True) -> Importance:
    """Sobol indices of the posterior mean by a scrambled Sobol sequence, and main effects.

    The effects cost more than the shares, and who does not look at them leaves them out.
    """
    d = process.dimensions
    base, other = _two_samples(process, seed)
    at_base, at_other = process.mean(base), process.mean(other)
    level = float(np.mean(np.concatenate([at_base, at_other])))
    # A constant surface has no variance to share.
    variance = float(np.var(np.concatenate([at_base, at_other]))) or 1.0

    def closed(columns: tuple[int, ...]) -> tuple[float, float]:
        """Variance due to these columns alone, and to them with all their interactions."""
        mixed = base.copy()
        mixed[:, columns] = other[:, columns]
        at_mixed = process.mean(mixed)
        alone = float(np.mean((at_other - level) * (at_mixed - at_base)))
        return alone, float(np.mean((at_base - at_mixed) ** 2)) / 2.0

    singly = np.array([closed((column,)) for column in range(d)]) / variance
    first = np.clip(singly[:, 0], 0.0, 1.0)
    pairs = np.zeros((d, d))
    for pair in itertools.combinations(range(d), 2):
        share = closed(pair)[0] / variance - float(np.sum(singly[list(pair), 0]))
        pairs[pair] = pairs[pair[::-1]] = min(max(share, 0.0), 1.0)
    shown = tuple(main_effect(process, column, base) for column in range(d)) if effects else ()
    return Importance(first, np.clip(singly[:, 1], 0.0, 1.0), pairs, shown)


def main_effect(process: GaussianProcess, column: int, others: Array) -> Effect:
    """Mean and deviation of the average of f over `others`, about its mean along the line.

    The average is linear in f, so that both are exact given the sample of the other parameters.
    """
    if process.categories[column]:
        line = np.unique(process.points[:, column])
    else:
        line = np.linspace(0.0, 1.0, 17)
    few = others[:32]
    grid = np.repeat(few[None], len(line), axis=0)
    grid[:, :, column] = line[:, None]
    mean, covariance = process.joint(grid.reshape(-1, process.dimensions))
    shape = (len(line), len(few))
    average = covariance.reshape(*shape, *shape).mean(axis=(1, 3))
    # Centred: the level of the whole surface is no effect.
    centring = np.eye(len(line)) - 1.0 / len(line)
    average = centring @ average @ centring
    return Effect(
        line,
        centring @ mean.reshape(shape).mean(axis=1),
        np.sqrt(np.maximum(np.diag(average), 0.0)),
        process.noise,
    )


def matters(
    points: ArrayLike,
    values: ArrayLike,
    column: int,
    *,
    categories: ArrayLike | None = None,
    permutations: int = 999,
    seed: int = 0,
) -> float:
    """The p-value of "this parameter does nothing, alone or together with others".

    A score test: a process without the parameter explains the losses, and what it leaves is
    tried against the kernel of the parameter, alone and times that of each other. What is left,
    made independent by the process, is permuted; the design stays as it is. To permute the column
    instead would be exact for random designs, but for Sobol points it rejected 11% of true nulls
    at 5%: their columns are less alike than those of any permutation. This test is not exact, for
    the process is fitted: at 5% it rejected 4 to 9% of true nulls, 6% over all designs tried.
    """
    places, scores = np.array(points, dtype=float, ndmin=2), _normal_scores(values)
    mask = _mask(categories, places.shape[1])
    factor, context = _explained(np.delete(places, column, axis=1), scores, np.delete(mask, column))
    own = places[:, [column]]
    kernel = context * _centred(_own_kernel(squared_differences(own, own, mask[[column]])[0]))
    half = solve_triangular(factor, kernel, lower=True)
    return _permutation_share(
        solve_triangular(factor, scores, lower=True),
        np.asarray(solve_triangular(factor, half.T, lower=True)),
        permutations,
        np.random.default_rng(seed),
    )


def anything_matters(
    points: ArrayLike,
    values: ArrayLike,
    *,
    categories: ArrayLike | None = None,
    permutations: int = 999,
    seed: int = 0,
) -> float:
    """The p-value of "no parameter does anything": the losses are permuted over the points."""
    places, scores = np.array(points, dtype=float, ndmin=2), _normal_scores(values)
    mask = _mask(categories, places.shape[1])
    apart = squared_differences(places, places, mask) / _TEST_LENGTH**2
    kernel = _centred(np.sum(matern(apart), axis=0) + matern(np.mean(apart, axis=0)))
    return _permutation_share(scores, kernel, permutations, np.random.default_rng(seed))


def _explained(rest: Array, scores: Array, mask: Mask) -> tuple[Array, Array]:
    """A factor of the covariance that the other parameters give, and where effects may vary."""
    n = len(scores)
    if not rest.shape[1]:
        return np.eye(n), np.ones((n, n))
    process = fit(rest, scores, categories=mask)
    # `fit` sorts its rows, so the covariance is asked for at the rows as they are.
    noise = max(process.hyperparameters.noise, 1e-3)
    factor = cholesky(process.covariance(rest, rest) + noise * np.eye(n), lower=True)
    # Centred, so that an effect which turns about with another parameter is not averaged away.
    kernels = [_centred(_own_kernel(apart)) for apart in squared_differences(rest, rest, mask)]
    varying = [kernel / np.mean(np.diag(kernel)) for kernel in kernels if np.any(kernel)]
    return np.asarray(factor), 1.0 + np.sum(varying, axis=0) / max(len(varying), 1)


def _permutation_share(
    values: Array, kernel: Array, permutations: int, random: np.random.Generator
) -> float:
    """The p-value of the quadratic form of `values` in `kernel`, against permuted values."""
    rows = np.stack([values, *(random.permutation(values) for _ in range(permutations))])
    statistics = np.sum((rows @ kernel) * rows, axis=1)
    # Ties, as of a constant column, count as no evidence whatever the rounding.
    return float(np.mean(statistics >= statistics[0] - 1e-9 * abs(statistics[0])))


def _normal_scores(values: ArrayLike) -> Array:
    """Ranks as quantiles of the normal distribution: bad tails have no say."""
    losses = np.asarray(values, dtype=float)
    return np.asarray(norm.ppf((rankdata(losses) - 0.5) / len(losses)))


def _own_kernel(squared_difference: Array) -> Array:
    """The kernel of one parameter that tests look through: of half its range."""
    return matern(squared_difference / _TEST_LENGTH**2)


def _centred(kernel: Array) -> Array:
    return np.asarray(kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean())


def _mask(categories: ArrayLike | None, d: int) -> Mask:
    return np.zeros(d, bool) if categories is None else np.asarray(categories, dtype=bool)


def _two_samples(process: GaussianProcess, seed: int) -> tuple[Array, Array]:
    """Two halves of one sequence of twice the dimensions."""
    d = process.dimensions
    both = np.asarray(qmc.Sobol(2 * d, rng=np.random.default_rng(seed)).random(_SAMPLES))
    for column in np.flatnonzero(process.categories):
        codes = np.unique(process.points[:, column])
        for place in (column, d + column):
            both[:, place] = codes[(both[:, place] * len(codes)).astype(int)]
    return both[:, :d], both[:, d:]
