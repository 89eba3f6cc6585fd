"""Lengths, amplitude and noise of a Gaussian process: the most probable, and plausible others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from tunebook.stats.kernels import Array, Mask, matern, matern_slope, scaled, squared_differences

# Medians and deviations of log-normal priors, for standardised outputs in the unit cube. The
# median length grows with the root of the dimensions, as distances in the cube do: a dimension
# must earn a short length. The noise may be next to nothing.
_LENGTH = (0.7, 1.0)
_AMPLITUDE = (1.5, 1.2)
_NOISE = (0.05, 2.0)
_JITTER = 1e-8
_FREEDOM = 5.0


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Lengths (d,) in units of the cube; variances in units of standardised outputs."""

    lengths: Array
    amplitude: float
    noise: float

    def vector(self) -> Array:
        """The logarithms, in which priors are normal."""
        return np.asarray(np.log([*self.lengths, self.amplitude, self.noise]))

    @staticmethod
    def of(vector: Array) -> Hyperparameters:
        values = np.exp(vector)
        return Hyperparameters(values[:-2], float(values[-2]), float(values[-1]))


@dataclass(frozen=True, slots=True)
class Problem:
    """What hyperparameters are fitted to."""

    differences: Array
    targets: Array
    repeats: Array
    centre: Array
    spread: Array

    @staticmethod
    def of(points: Array, targets: Array, repeats: Array, categories: Mask) -> Problem:
        d = points.shape[1]
        medians = [_LENGTH[0] * np.sqrt(max(d, 1))] * d + [_AMPLITUDE[0], _NOISE[0]]
        spread = [_LENGTH[1]] * d + [_AMPLITUDE[1], _NOISE[1]]
        differences = squared_differences(points, points, categories)
        return Problem(differences, targets, repeats, np.log(medians), np.array(spread))

    def cost(self, vector: Array) -> float:
        """The negative log posterior density of the logarithms, but for a constant."""
        found = Hyperparameters.of(vector)
        signal = found.amplitude * matern(scaled(self.differences, found.lengths))
        factor = self._factor(signal, found.noise)
        rotated = solve_triangular(factor, self.targets, lower=True, check_finite=False)
        away = (vector - self.centre) / self.spread
        fit = rotated @ rotated / 2.0 + np.sum(np.log(np.diag(factor)))
        return float(fit + away @ away / 2.0)

    def cost_and_gradient(self, vector: Array) -> tuple[float, Array]:
        """The cost and its derivatives by the logarithms."""
        found = Hyperparameters.of(vector)
        distance = scaled(self.differences, found.lengths)
        signal = found.amplitude * matern(distance)
        factor = self._factor(signal, found.noise)
        inverse = cho_solve((factor, True), np.eye(len(factor)), check_finite=False)
        weights = inverse @ self.targets
        surplus = (inverse - np.outer(weights, weights)) / 2.0
        slope = surplus * matern_slope(distance)
        by_length = self.differences.reshape(len(found.lengths), -1) @ slope.ravel()
        gradient = np.concatenate(
            [
                -2.0 * found.amplitude * by_length / found.lengths**2,
                [np.sum(surplus * signal)],
                [np.sum(np.diag(surplus) * found.noise / self.repeats)],
            ]
        )
        fit = self.targets @ weights / 2.0 + np.sum(np.log(np.diag(factor)))
        away = (vector - self.centre) / self.spread
        return float(fit + away @ away / 2.0), gradient + away / self.spread

    def _factor(self, signal: Array, noise: float) -> Array:
        covariance = 1.0 + signal
        covariance[np.diag_indices_from(covariance)] += noise / self.repeats + _JITTER
        return np.asarray(cholesky(covariance, lower=True, check_finite=False))


def most_probable(problem: Problem, noise: float | None = None) -> Hyperparameters:
    """The best of three ascents, always from the same starts; `noise` is a known variance."""
    d = len(problem.centre) - 2
    bounds = _bounds(d, noise)
    lower, upper = np.array(bounds).T
    starts = [problem.centre.copy() for _ in range(3)]
    # A smooth function with little noise, a rough one, and noise with hardly any function.
    starts[0][-1] = np.log(1e-3)
    starts[1][:d] -= 1.0
    starts[2][-2:] = np.log([0.3, 0.8])
    found = [
        minimize(
            problem.cost_and_gradient,
            np.clip(start, lower, upper),
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": 60, "ftol": 1e-6},
        )
        for start in starts
    ]
    return Hyperparameters.of(np.asarray(min(found, key=lambda result: result.fun).x))


def plausible(
    problem: Problem, best: Hyperparameters, count: int, random: np.random.Generator
) -> tuple[Hyperparameters, ...]:
    """Draws from the posterior: from a Student distribution about its mode, resampled by weight."""
    mode = best.vector()
    width = _width(problem, mode)
    tries = 8 * count
    normal = random.standard_normal((tries, len(mode)))
    stretch = np.sqrt(_FREEDOM / random.chisquare(_FREEDOM, tries))
    steps = normal * stretch[:, None]
    lower, upper = np.array(_bounds(len(mode) - 2, None)).T
    vectors = np.clip(mode + steps @ width.T, lower, upper)
    proposal = (_FREEDOM + len(mode)) / 2 * np.log1p(np.sum(steps**2, axis=1) / _FREEDOM)
    log_weights = proposal - np.array([problem.cost(vector) for vector in vectors])
    weights = np.exp(log_weights - np.max(log_weights))
    levels = (np.arange(count) + random.random()) / count
    places = np.searchsorted(np.cumsum(weights) / np.sum(weights), levels)
    return tuple(Hyperparameters.of(vectors[place]) for place in np.minimum(places, tries - 1))


def _width(problem: Problem, mode: Array) -> Array:
    """A root of the posterior covariance at the mode: no wider than the prior in any direction."""
    step = 1e-3
    rows = [
        problem.cost_and_gradient(mode + step * unit)[1]
        - problem.cost_and_gradient(mode - step * unit)[1]
        for unit in np.eye(len(mode))
    ]
    curvature = np.array(rows) / (2 * step) * np.outer(problem.spread, problem.spread)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return np.asarray(problem.spread[:, None] * vectors / np.sqrt(np.maximum(values, 1.0)))


def _bounds(d: int, noise: float | None) -> list[tuple[float, float]]:
    level = (1e-6, 10.0) if noise is None else (max(noise, 1e-8),) * 2
    limits = [(0.02, 100.0)] * d + [(1e-3, 300.0), level]
    return [(float(np.log(low)), float(np.log(high))) for low, high in limits]
