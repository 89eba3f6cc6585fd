"""Regression by a noisy Gaussian process: points in the unit cube, losses with noise.

The model of standardised losses is `mean + f(x) + noise`: a constant mean with a standard normal
prior, integrated out; f with a Matern-5/2 kernel and a length for each dimension; noise of one
variance, divided by the repeats of a row. A small value is a good one throughout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular

from tunebook.stats.hyperparameters import Hyperparameters, Problem, most_probable, plausible
from tunebook.stats.kernels import Array, Mask, matern, scaled, squared_differences

MOST_FITTED = 200
MOST_CONDITIONED = 400
_JITTER = 1e-8


@dataclass(frozen=True, slots=True)
class GaussianProcess:
    """A process given its data: rows of `points` (n, d) and standardised `targets` (n,)."""

    points: Array
    targets: Array
    repeats: Array
    categories: Mask
    hyperparameters: Hyperparameters
    centre: float
    scale: float
    factor: Array
    weights: Array

    @property
    def dimensions(self) -> int:
        return int(self.points.shape[1])

    @property
    def noise(self) -> float:
        """The standard deviation of one loss at a fixed point, in units of the losses."""
        return float(np.sqrt(self.hyperparameters.noise)) * self.scale

    def covariance(self, left: Array, right: Array) -> Array:
        """The prior covariance of standardised values, the unknown mean included."""
        apart = squared_differences(left, right, self.categories)
        amplitude, lengths = self.hyperparameters.amplitude, self.hyperparameters.lengths
        return 1.0 + amplitude * matern(scaled(apart, lengths))

    def mean(self, points: Array) -> Array:
        """The posterior mean of f at points (m, d), in units of the losses."""
        return self.centre + self.scale * (self.covariance(points, self.points) @ self.weights)

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Posterior mean and variance of f at points (m, d), without the noise of a new loss."""
        cross = self.covariance(points, self.points)
        explained = solve_triangular(self.factor, cross.T, lower=True)
        prior = 1.0 + self.hyperparameters.amplitude
        variance = np.maximum(prior - np.sum(explained**2, axis=0), 0.0)
        return self.centre + self.scale * (cross @ self.weights), self.scale**2 * variance

    def joint(self, points: Array) -> tuple[Array, Array]:
        """Posterior mean (m,) and covariance (m, m) of f at points (m, d)."""
        cross = self.covariance(points, self.points)
        explained = solve_triangular(self.factor, cross.T, lower=True)
        covariance = self.covariance(points, points) - explained.T @ explained
        return self.centre + self.scale * (cross @ self.weights), self.scale**2 * covariance

    def sample(self, points: Array, count: int, random: np.random.Generator) -> Array:
        """(count, m): paths of f drawn jointly at points (m, d)."""
        mean, covariance = self.joint(points)
        # The jitter grows with the prior variance: it is what rounding spoils.
        jitter = 1e-7 * (1.0 + self.hyperparameters.amplitude) * self.scale**2
        factor = _factor(covariance, jitter)
        return np.asarray(mean + random.standard_normal((count, len(points))) @ factor.T)

    def leave_one_out(self) -> tuple[Array, Array]:
        """Mean and variance of each loss, noise included, predicted from all the other losses."""
        precision = np.diag(cho_solve((self.factor, True), np.eye(len(self.targets))))
        mean = self.targets - self.weights / precision
        return self.centre + self.scale * mean, self.scale**2 / precision

    def with_hyperparameters(self, hyperparameters: Hyperparameters) -> GaussianProcess:
        """The same data under other hyperparameters."""
        return _condition(
            self.points,
            self.targets,
            self.repeats,
            self.categories,
            hyperparameters,
            (self.centre, self.scale),
        )

    def draws(self, count: int, random: np.random.Generator) -> tuple[GaussianProcess, ...]:
        """The same data under plausible hyperparameters: a mixture as unsure as it should be."""
        kept = thinned(self.targets, MOST_FITTED)
        problem = Problem.of(
            self.points[kept], self.targets[kept], self.repeats[kept], self.categories
        )
        found = plausible(problem, self.hyperparameters, count, random)
        return tuple(self.with_hyperparameters(one) for one in found)


def fit(
    points: ArrayLike,
    values: ArrayLike,
    *,
    categories: ArrayLike | None = None,
    noise: float | None = None,
    repeats: ArrayLike | None = None,
) -> GaussianProcess:
    """The process under its most probable hyperparameters.

    `points` is (n, d) with numeric columns in the unit cube and codes in the columns that
    `categories` (d,) marks; `values` is (n,), small is good, and best passed through
    `shortened_tail` first. `noise` fixes the standard deviation of one loss; a value that is the
    mean of several losses says so in `repeats`. Equal rows need no special care.

    The order of rows does not matter. Of more than 400 rows the process keeps 400, and fits its
    hyperparameters to 200: the best half of what is kept are the best losses, the other half is
    spread evenly over the ranks of the rest.

    >>> grid = np.linspace(0, 1, 9)[:, None]
    >>> process = fit(grid, (grid[:, 0] - 0.3) ** 2)
    >>> bool(abs(process.mean(np.array([[0.45]]))[0] - 0.0225) < 0.005)
    True
    """
    places, losses, counts, mask = _checked(points, values, categories, repeats)
    centre, scale = float(np.mean(losses)), float(np.std(losses)) or 1.0
    if len(losses) > MOST_CONDITIONED:
        kept = thinned(losses, MOST_CONDITIONED)
        places, losses, counts = places[kept], losses[kept], counts[kept]
    targets = (losses - centre) / scale
    known = None if noise is None else (noise / scale) ** 2
    kept = thinned(targets, MOST_FITTED)
    problem = Problem.of(places[kept], targets[kept], counts[kept], mask)
    found = most_probable(problem, known)
    return _condition(places, targets, counts, mask, found, (centre, scale))


def thinned(values: Array, most: int) -> NDArray[np.intp]:
    """Places of at most `most` values: the best half of them, and the rest evenly by rank.

    >>> thinned(np.array([5.0, 1.0, 4.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 0]
    """
    order = np.argsort(values, kind="stable")
    if len(order) <= most:
        return np.arange(len(values))
    best = (most + 1) // 2
    spread = np.linspace(best, len(order) - 1, most - best + 1).round().astype(int)[1:]
    return np.asarray(order[np.concatenate([np.arange(best), spread])])


def shortened_tail(values: ArrayLike, spread: float = 3.0) -> Array:
    """Losses with the bad tail cut at `spread` median absolute deviations above the median.

    The losses of a study have a long bad tail: a few trials that went wrong would otherwise set
    the scale on which all the good ones look equal. In simulations a cut at 2 or 3 deviations found
    half as many winners again as one at 6 or none, and no wrong ones. Infinite losses are cut as
    well.

    >>> shortened_tail([1.0, 2.0, 3.0, 4.0, np.inf]).tolist()
    [1.0, 2.0, 3.0, 4.0, 6.0]
    """
    losses = np.asarray(values, dtype=float)
    finite = losses[np.isfinite(losses)]
    middle = float(np.median(losses))
    deviation = float(np.median(np.abs(finite - middle))) if np.isfinite(middle) else 0.0
    # Without a scale, as when most losses are infinite, the worst finite loss is bad enough.
    cut = middle + spread * deviation if deviation else np.max(finite, initial=-np.inf)
    return np.asarray(np.minimum(losses, cut))


def _condition(
    points: Array,
    targets: Array,
    repeats: Array,
    categories: Mask,
    hyperparameters: Hyperparameters,
    units: tuple[float, float],
) -> GaussianProcess:
    apart = squared_differences(points, points, categories)
    covariance = 1.0 + hyperparameters.amplitude * matern(scaled(apart, hyperparameters.lengths))
    covariance[np.diag_indices_from(covariance)] += hyperparameters.noise / repeats
    factor = _factor(covariance, _JITTER)
    weights = cho_solve((factor, True), targets)
    return GaussianProcess(
        points, targets, repeats, categories, hyperparameters, *units, factor, weights
    )


def _factor(covariance: Array, jitter: float) -> Array:
    """The lower Cholesky factor, with as little jitter as it takes."""
    diagonal = np.eye(len(covariance))
    for _ in range(8):
        try:
            return np.asarray(cholesky(covariance + jitter * diagonal, lower=True))
        except np.linalg.LinAlgError:
            jitter *= 10.0
    raise ValueError(f"a covariance of {len(covariance)} points is far from positive definite")


def _checked(
    points: ArrayLike, values: ArrayLike, categories: ArrayLike | None, repeats: ArrayLike | None
) -> tuple[Array, Array, Array, Mask]:
    """Arrays of one size, in an order that does not depend on that of the rows."""
    places = np.array(points, dtype=float, ndmin=2)
    losses = np.asarray(values, dtype=float)
    if places.shape[0] != losses.shape[0] or not len(losses):
        raise ValueError(f"{places.shape[0]} points and {losses.shape[0]} values")
    if not (np.isfinite(places).all() and np.isfinite(losses).all()):
        raise ValueError("points and values must be finite: impute or drop what is not")
    counts = np.ones(len(losses)) if repeats is None else np.asarray(repeats, dtype=float)
    mask = np.zeros(places.shape[1], dtype=bool)
    if categories is not None:
        mask |= np.asarray(categories, dtype=bool)
    order = np.lexsort((*places.T, counts, losses))
    return places[order], losses[order], counts[order], mask
