"""Curves that fall, and curves that fall and rise again: is the rise more than noise?

Lower is better. "The last value is above the lowest by two standard deviations" is true of most
noisy plateaus, so the question here is another: how much better than the best falling curve does a
valley fit, and how often would it fit as much better if the curve were flat and its noise
correlated from point to point? After Barlow et al., "Statistical Inference under Order
Restrictions", 1972.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tunebook.stats.arrays import Floats, Ints, usable
from tunebook.stats.periodicity import ar1_noise
from tunebook.stats.tails import tail_p

# The null is simulated for these numbers of points only, a sixth apart: a curve is thinned to at
# most the last of them, and of its plateau as many late points are taken as one of them allows.
_SIZES = (6, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 68, 80, 100)
_FEWEST = 10
_CORRELATIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Rise:
    """What follows the minimum of a curve.

    `minimum` is an index into the values given, `rise` how far the end of the fitted valley lies
    above its bottom, `noise` the step-to-step standard deviation since the curve has settled, and
    p the chance of so good a valley where there is only noise; it is 1 for a curve that has
    settled for fewer than 6 points.
    """

    minimum: int
    rise: float
    noise: float
    p: float

    @property
    def sds(self) -> float:
        """The rise in standard deviations of the noise."""
        return self.rise / self.noise if self.noise > 0.0 else math.inf if self.rise > 0 else 0.0


def isotonic(values: ArrayLike, increasing: bool = False) -> Floats:
    """The falling (or rising) curve nearest to the values, `(n,)` or row by row `(rows, n)`.

    >>> isotonic([4.0, 1.0, 2.0, 0.0]).tolist()
    [4.0, 1.5, 1.5, 0.0]
    """
    y = np.asarray(values, dtype=np.float64)
    sign = 1.0 if increasing else -1.0
    return (sign * _pool(np.atleast_2d(sign * y))[0]).reshape(y.shape)


def valley(values: ArrayLike) -> tuple[Floats, int]:
    """The curve that falls and then rises nearest to the values, `(n,)`, and where it turns.

    >>> valley([3.0, 1.0, 1.5, 0.5, 2.0])
    (array([3.  , 1.25, 1.25, 0.5 , 2.  ]), 3)
    """
    y = np.asarray(values, dtype=np.float64)[None, :]
    fit = _valley_fit(y, _turns(y)[0])[0]
    return fit, int(np.argmin(fit))


def rise_test(values: ArrayLike, rho_limit: float = 0.85, draws: int = 4000) -> Rise | None:
    """Does a curve `(n,)` rise after its minimum by more than its noise explains?

    p is the largest over AR(1) noise with correlations up to `rho_limit` between neighbouring
    points. None for fewer than 10 finite values.
    """
    return screen([values], rho_limit, draws)[0]


def screen(
    curves: Sequence[ArrayLike], rho_limit: float = 0.85, draws: int = 500
) -> list[Rise | None]:
    """`rise_test` of many curves at once, with fewer draws for the null.

    The null distribution depends on the number of points alone, so that a thousand curves cost
    little more than one. The p-value of a clear rise is an extrapolation; `rise_test` is finer.
    """
    arrays = [np.asarray(values, dtype=np.float64).ravel() for values in curves]
    thinned = [_thin(values) for values in arrays]
    found: list[Rise | None] = [None] * len(curves)
    for n, members in _by_length([len(means) for means, _ in thinned]).items():
        table = np.array([thinned[i][0] for i in members])
        settled = _settled_lengths(table)
        for size in np.unique(settled).tolist():
            rows = np.flatnonzero(settled == size).tolist()
            late = max(size, _SIZES[0])
            results = _test(table[rows][:, n - late :], rho_limit, draws)
            for row, (turn, rise, p) in zip(rows, results, strict=True):
                places = thinned[members[row]][1][n - late :]
                noise = _step_noise(arrays[members[row]][places[0] :])
                found[members[row]] = Rise(int(places[turn]), rise, noise, p if size else 1.0)
    return found


def _test(y: Floats, rho_limit: float, draws: int) -> list[tuple[int, float, float]]:
    """(place of the minimum, rise, p) of each row of settled points `(rows, n)`."""
    n = y.shape[1]
    scores, fit = _scores(y)
    turns = np.argmin(fit, axis=1)
    rises = fit[:, -max(1, n // 10) :].mean(axis=1) - fit.min(axis=1)
    nulls = [_null(n, rho, draws) for rho in _CORRELATIONS if rho <= rho_limit]
    chances = [
        max(tail_p(score, null) for null in nulls) if score > -math.inf else 1.0
        for score in scores.tolist()
    ]
    return list(zip(turns.tolist(), rises.tolist(), chances, strict=True))


@functools.lru_cache(maxsize=256)
def _null(n: int, rho: float, draws: int) -> Floats:
    """Scores of flat AR(1) noise: no falling curve makes a valley more likely than a flat one."""
    scores = _scores(ar1_noise(rho, draws, n, seed=n))[0]
    scores.flags.writeable = False
    return scores


def _scores(y: Floats) -> tuple[Floats, Floats]:
    """How much better a valley fits each row, and its fit `(rows, n)`.

    The log of the gain in squared error over the residual variance, and over what correlation
    does to it; its null then depends little on the correlation. -inf where there is no gain.
    """
    n = y.shape[1]
    turns, gain = _turns(y)
    fit = _valley_fit(y, turns)
    residual = y - fit
    squares = (residual**2).sum(axis=1)
    # A valley through every point leaves no residual, and then nothing can be said of the noise.
    floor = 1e-4 * gain + 1e-300
    raw = (residual[:, 1:] * residual[:, :-1]).sum(axis=1) / (squares + floor)
    rho = np.clip((raw * n + 3.0) / max(n - 4.0, 4.0), 0.0, 0.97)
    ratio = gain * n / (squares + floor)
    smallest = 1e-9 * (y**2).sum(axis=1)
    with np.errstate(divide="ignore"):
        scores: Floats = np.log(np.where(gain > smallest, ratio, 0.0))
    return scores + 2.0 * np.log((1.0 - rho) / (1.0 + rho)), fit


def _turns(y: Floats) -> tuple[Ints, Floats]:
    """Where the best valley of each row turns, and its gain over the best falling curve."""
    falling = _pool(-y)[1]
    rising = _pool(-y[:, ::-1])[1][:, ::-1]
    total = falling + rising
    turns = np.argmin(total, axis=1)
    return turns, falling[:, -1] - total[np.arange(len(y)), turns]


def _valley_fit(y: Floats, turns: Ints) -> Floats:
    """The valley with given turns: one rising fit, with the falling part upside down and below."""
    centre = y.mean(axis=1, keepdims=True)
    apart = 10.0 * np.ptp(y, axis=1, keepdims=True) + 1e-300
    after = np.arange(y.shape[1]) >= turns[:, None]
    folded = np.where(after, y - centre + apart, centre - y)
    fit = _pool(folded)[0]
    return np.asarray(np.where(after, fit + centre - apart, centre - fit))


def _pool(y: Floats) -> tuple[Floats, Floats]:
    """Pool adjacent violators, all rows at once: the rising fit, and the error of every prefix.

    `(rows, n)` and `(rows, n + 1)`. Each row has a stack of blocks; a new point is a block, and
    blocks merge while the one before is not lower.
    """
    rows, n = y.shape
    means, weights = np.zeros((rows, n)), np.zeros((rows, n))
    top = np.full(rows, -1)
    errors = np.zeros((rows, n + 1))
    error = np.zeros(rows)
    every = np.arange(rows)
    for point in range(n):
        top += 1
        means[every, top], weights[every, top] = y[:, point], 1.0
        merging = every[top > 0]
        while len(merging):
            last = top[merging]
            upper, lower = means[merging, last - 1], means[merging, last]
            violates = upper >= lower
            merging, last = merging[violates], last[violates]
            upper, lower = upper[violates], lower[violates]
            a, b = weights[merging, last - 1], weights[merging, last]
            error[merging] += a * b / (a + b) * (upper - lower) ** 2
            means[merging, last - 1] = (a * upper + b * lower) / (a + b)
            weights[merging, last - 1] = a + b
            top[merging] = last - 1
            merging = merging[last > 1]
        errors[:, point + 1] = error
    used = np.arange(n) <= top[:, None]
    fit = np.repeat(means[used], weights[used].astype(np.int64)).reshape(rows, n)
    return fit, errors


def _thin(values: Floats) -> tuple[Floats, Ints]:
    """Means of equal blocks of the finite values, and the index in the middle of each block."""
    places = np.flatnonzero(usable(values))
    block = max(1, math.ceil(len(places) / _SIZES[-1]))
    count = len(places) // block
    kept = places[len(places) - count * block :].reshape(count, block)
    return values[kept].mean(axis=1), kept[:, block // 2]


def _by_length(lengths: Sequence[int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        if length >= _FEWEST:
            groups.setdefault(length, []).append(place)
    return groups


def _settled_lengths(y: Floats) -> Ints:
    """How many late points of each row `(rows, n)` to test: those no longer far above the bottom.

    0 where they are too few. The steep beginning cannot hide a rise, but a falling curve follows it
    so closely that it would make the noise seem small.
    """
    n = y.shape[1]
    late = y[:, n // 2 :]
    step = np.sqrt((np.diff(late, axis=1) ** 2).mean(axis=1) / 2.0)
    fit = -_pool(-y)[0]
    near = fit <= (fit.min(axis=1) + 6.0 * step)[:, None]
    wanted = n - np.argmax(near, axis=1)
    sizes = np.array((0, *_SIZES))
    return np.asarray(sizes[np.searchsorted(sizes, wanted, side="right") - 1])


def _step_noise(values: Floats) -> float:
    """Von Neumann's step-to-step standard deviation of the finite values."""
    steps = np.diff(values[usable(values)])
    return float(np.sqrt((steps**2).mean() / 2.0)) if len(steps) else 0.0
