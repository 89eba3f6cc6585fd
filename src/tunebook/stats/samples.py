"""Means of samples: their errors, intervals and differences, and what a sample could detect.

Samples are `(n,)`. Values that are not finite are left out; too few of the others give None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tunebook.stats.arrays import Floats, usable

_NORMAL_MAD = 1.4826022185056018


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its confidence interval."""

    estimate: float
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class PooledSd:
    """The standard deviation within groups, with its interval and degrees of freedom."""

    sd: float
    low: float
    high: float
    freedom: int


def finite(values: ArrayLike) -> Floats:
    """The finite values of a sample, `(m,)`."""
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[usable(array)]


def standard_error(values: ArrayLike) -> float | None:
    """The standard error of a mean; None for fewer than two values.

    >>> standard_error([1.0, 2.0, 3.0, 4.0])
    0.6454972243679028
    """
    x = finite(values)
    return float(x.std(ddof=1) / math.sqrt(len(x))) if len(x) > 1 else None


def binomial_standard_error(share: float, examples: int) -> float | None:
    """The standard error of a share of examples, such as an error rate; None without examples.

    >>> binomial_standard_error(0.1, 900)
    0.01
    """
    if examples < 1 or not 0.0 <= share <= 1.0:
        return None
    return math.sqrt(share * (1.0 - share) / examples)


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Interval | None:
    """Student's interval of a mean; None for fewer than two values."""
    x = finite(values)
    if len(x) < 2:
        return None
    half = _t_quantile(confidence, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x))
    mean = float(x.mean())
    return Interval(mean, mean - float(half), mean + float(half))


def welch_interval(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95
) -> Interval | None:
    """Welch's interval of mean(first) - mean(second); None unless both have two values."""
    a, b = finite(first), finite(second)
    if min(len(a), len(b)) < 2:
        return None
    difference = float(a.mean() - b.mean())
    error, freedom = _welch(a, b)
    half = _t_quantile(confidence, freedom) * error if error > 0 else 0.0
    return Interval(difference, difference - half, difference + half)


def welch_p(first: ArrayLike, second: ArrayLike, margin: float = 0.0) -> float | None:
    """One-sided p-value of mean(second) - mean(first) > margin: small when `first` is lower.

    None unless both have two values.
    """
    a, b = finite(first), finite(second)
    if min(len(a), len(b)) < 2:
        return None
    excess = float(b.mean() - a.mean()) - margin
    error, freedom = _welch(a, b)
    if error == 0.0:
        return 0.0 if excess > 0 else 1.0
    return float(special.stdtr(freedom, -excess / error))


def bootstrap_mean(
    values: ArrayLike, confidence: float = 0.95, draws: int = 2000, seed: int = 0
) -> Interval | None:
    """The percentile bootstrap interval of a mean; None for fewer than two values."""
    x = finite(values)
    if len(x) < 2:
        return None
    means = _resampled_means(x, draws, np.random.default_rng(seed))
    return _percentiles(float(x.mean()), means, confidence)


def bootstrap_difference(
    first: ArrayLike,
    second: ArrayLike,
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """The percentile bootstrap interval of mean(first) - mean(second), of independent samples.

    None unless both have two values. For paired samples, take `bootstrap_mean` of differences.
    """
    a, b = finite(first), finite(second)
    if min(len(a), len(b)) < 2:
        return None
    rng = np.random.default_rng(seed)
    differences = _resampled_means(a, draws, rng) - _resampled_means(b, draws, rng)
    return _percentiles(float(a.mean() - b.mean()), differences, confidence)


def paired_standard_error(first: ArrayLike, second: ArrayLike) -> float | None:
    """The standard error of the mean difference of two runs on the same examples.

    `first` and `second` hold one value for each example, `(examples,)`. Examples that both runs
    find easy or hard drop out, so this is below the error of two independent sets. None for fewer
    than two examples that both have.
    """
    a = np.asarray(first, dtype=np.float64).ravel()
    b = np.asarray(second, dtype=np.float64).ravel()
    if a.shape != b.shape:
        raise ValueError(f"paired samples must have one length, got {len(a)} and {len(b)}")
    both = usable(a) & usable(b)
    return standard_error(a[both] - b[both])


def detectable_difference(
    sd: float, n: int, level: float = 0.05, power: float = 0.8, sides: int = 2
) -> float | None:
    """The smallest difference of two means of `n` values that a t-test finds with `power`.

    Solved by the usual approximation (the sum of two t quantiles), which is near the exact
    noncentral answer from n = 3 on. None for fewer than two values.

    >>> round(detectable_difference(sd=1.0, n=16), 2)
    1.02
    """
    if n < 2 or not sd >= 0.0:
        return None
    freedom = 2 * n - 2
    quantiles = special.stdtrit(freedom, 1.0 - level / sides) + special.stdtrit(freedom, power)
    return float(quantiles * sd * math.sqrt(2.0 / n))


def pooled_sd(groups: Sequence[ArrayLike], confidence: float = 0.95) -> PooledSd | None:
    """The sd within groups of replicates, with its chi-square interval.

    Groups may differ in mean and size; one with fewer than two values tells nothing. None when
    none tells anything.

    >>> pooled = pooled_sd([[1.0, 3.0], [10.0, 12.0]])
    >>> round(pooled.sd, 4), pooled.freedom
    (1.4142, 2)
    """
    samples = [x for x in map(finite, groups) if len(x) > 1]
    freedom = sum(len(x) - 1 for x in samples)
    if not freedom:
        return None
    squares = sum(float(np.sum((x - x.mean()) ** 2)) for x in samples)
    tail = (1.0 - confidence) / 2.0
    low, high = special.chdtri(freedom, [tail, 1.0 - tail])
    return PooledSd(
        math.sqrt(squares / freedom),
        math.sqrt(squares / low),
        math.sqrt(squares / high),
        freedom,
    )


def median_absolute_deviation(values: ArrayLike) -> float | None:
    """The median distance from the median, scaled to the sd of a normal; None without values.

    >>> round(median_absolute_deviation([1.0, 2.0, 3.0, 4.0, 100.0]), 4)
    1.4826
    """
    x = finite(values)
    return float(_NORMAL_MAD * np.median(np.abs(x - np.median(x)))) if len(x) else None


def _t_quantile(confidence: float, freedom: float) -> float:
    return float(special.stdtrit(freedom, (1.0 + confidence) / 2.0))


def _welch(a: Floats, b: Floats) -> tuple[float, float]:
    """The standard error of the difference, and Satterthwaite's degrees of freedom."""
    parts = np.array([a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)])
    total = float(parts.sum())
    if total == 0.0:
        return 0.0, float(len(a) + len(b) - 2)
    weights = parts / total
    freedom = 1.0 / float(weights[0] ** 2 / (len(a) - 1) + weights[1] ** 2 / (len(b) - 1))
    return math.sqrt(total), freedom


def _resampled_means(x: Floats, draws: int, rng: np.random.Generator) -> Floats:
    means: Floats = x[rng.integers(len(x), size=(draws, len(x)))].mean(axis=1)
    return means


def _percentiles(estimate: float, draws: Floats, confidence: float) -> Interval:
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail])
    return Interval(estimate, float(low), float(high))
