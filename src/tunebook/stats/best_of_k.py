"""What the best of k trials would be: a curve with a band that holds for all k at once.

Lower is better throughout. A trial that gave no result because its parameters do not work is
worth +inf; NaN and -inf tell nothing, and are left out. The trials are taken as a random
sample of what the search space gives: quasi-random points are read as if random.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tunebook.stats.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class BestOfK:
    """The best of k trials for each k. All shapes are `(m,)`.

    `expected` is the mean, and +inf where k trials may all be infeasible; `quantile` is the
    q-quantile (the median unless asked otherwise), `low` and `high` its band, which holds for
    all k at once. An end that the sample does not bound is infinite.
    """

    ks: Ints
    expected: Floats
    quantile: Floats
    low: Floats
    high: Floats
    q: float
    confidence: float
    trials: int


def best_of_k(
    losses: ArrayLike,
    ks: ArrayLike | None = None,
    q: float = 0.5,
    confidence: float = 0.95,
    floor: float = -math.inf,
) -> BestOfK | None:
    """The curve of the best of k, for k up to half the trials unless `ks` names others.

    `losses` is `(n,)`; `floor` is a value below which no loss can be (0 for an error). None for
    fewer than two trials.

    >>> curve = best_of_k([0.3, 0.1, 0.4, 0.2, float("inf")])
    >>> curve.ks.tolist(), curve.quantile.tolist()
    ([1, 2], [0.3, 0.2])
    """
    y = _sorted(losses)
    n = len(y)
    if n < 2:
        return None
    wanted = np.arange(1, n // 2 + 1) if ks is None else np.asarray(ks, dtype=np.int64).ravel()
    low, high = quantile_band(y, wanted, q, confidence, floor)
    return BestOfK(
        wanted,
        expected_best(y, wanted),
        quantile_best(y, wanted, q),
        low,
        high,
        q,
        confidence,
        n,
    )


def expected_best(losses: ArrayLike, ks: ArrayLike) -> Floats:
    """The mean of the best of k over all subsets of k of the n trials, `(m,)` for ks `(m,)`.

    This U-statistic is unbiased. It is +inf where more than n - k trials are infeasible, and NaN
    for k > n, which the sample says nothing about.

    >>> expected_best([3.0, 1.0, 2.0], [1, 2, 3, 4]).round(4).tolist()
    [2.0, 1.3333, 1.0, nan]
    """
    y = _sorted(losses)
    survival = _survival(len(y), ks)
    weights = -np.diff(survival, axis=1)
    infinite = np.isposinf(y)
    mean = weights @ np.where(infinite, 0.0, y)
    return np.where(weights[:, infinite].sum(axis=1) > 0.0, np.inf, mean)


def quantile_best(losses: ArrayLike, ks: ArrayLike, q: float = 0.5) -> Floats:
    """The q-quantile of the best of k over all subsets of k of the n trials, `(m,)`.

    NaN for k > n.
    """
    y = _sorted(losses)
    survival = _survival(len(y), ks)
    if not len(y):
        return np.full(len(survival), np.nan)
    # The tolerance keeps a probability that equals q exactly from being missed by rounding.
    reached = 1.0 - survival[:, 1:] >= q - 1e-12
    return np.where(np.isnan(survival[:, 0]), np.nan, y[np.argmax(reached, axis=1)])


def quantile_band(
    losses: ArrayLike,
    ks: ArrayLike,
    q: float = 0.5,
    confidence: float = 0.95,
    floor: float = -math.inf,
) -> tuple[Floats, Floats]:
    """Lower and upper ends of a band for the q-quantile of the best of k, each `(m,)`.

    The band holds for all k, and all q, at once: it inverts a band of the distribution function.
    """
    y = _sorted(losses)
    k = np.asarray(ks, dtype=np.float64).ravel()
    if not len(y):
        return np.full(k.shape, floor), np.full(k.shape, np.inf)
    p = -np.expm1(np.log1p(-q) / k)
    low, high = distribution_band(len(y), confidence)
    above = np.append(y, np.inf)[np.searchsorted(low, p)]
    below = np.insert(y, 0, floor)[np.searchsorted(high, p)]
    return below, above


@functools.lru_cache(maxsize=64)
def distribution_band(n: int, confidence: float) -> tuple[Floats, Floats]:
    """Bounds of F at the order statistics of n values that hold together, each `(n,)`.

    F(y_(i)) has a beta distribution; each of its intervals leaves out the same share, chosen so
    that all of them hold at once with exactly the confidence asked for, whatever continuous F is
    (with ties, with more). Against the band of Dvoretzky, Kiefer and Wolfowitz it is far narrower
    where the best trials are. After Learned-Miller and DeStefano, "A Probabilistic Upper Bound on
    Differential Entropy", 2008; the coverage is computed, not simulated.
    """
    tight, loose = 1.0 - confidence, (1.0 - confidence) / (2.0 * n)
    for _ in range(40):
        middle = math.sqrt(tight * loose)
        if _coverage(*_local_bounds(n, middle)) < confidence:
            tight = middle
        else:
            loose = middle
        if tight < loose * (1.0 + 1e-6):
            break
    band = _local_bounds(n, loose)
    for end in band:
        end.flags.writeable = False
    return band


def _local_bounds(n: int, level: float) -> tuple[Floats, Floats]:
    i = np.arange(1, n + 1)
    low: Floats = special.betaincinv(i, n - i + 1, level / 2.0)
    return low, 1.0 - low[::-1]


def _coverage(low: Floats, high: Floats) -> float:
    """The chance that all order statistics of n uniform values lie in [low, high].

    A walk through the sorted bounds with the number of values so far: at low[i] it may be at most
    i, at high[i] at least i + 1. Steps are Poisson, and the total is conditioned on n.
    """
    n = len(low)
    times = np.concatenate([low, high])
    most = np.concatenate([np.arange(n), np.full(n, n)])
    least = np.concatenate([np.zeros(n, dtype=np.int64), np.arange(1, n + 1)])
    order = np.argsort(times, kind="stable")
    gaps = n * np.diff(times[order], prepend=0.0, append=1.0)
    least_at = np.append(np.maximum.accumulate(least[order]), n)
    most_at = np.append(np.minimum.accumulate(most[order][::-1])[::-1], n)
    chance, first = np.ones(1), 0
    counts = np.arange(n + 1)
    logs = special.gammaln(counts + 1.0)
    for gap, fewest, highest in zip(gaps, least_at, most_at, strict=True):
        reach = highest - first + 1
        steps = np.exp(special.xlogy(counts[:reach], gap) - gap - logs[:reach])
        chance = np.convolve(chance, steps)[fewest - first : reach]
        first = fewest
    return float(chance[0] / np.exp(special.xlogy(n, n) - n - logs[n]))


def _sorted(losses: ArrayLike) -> Floats:
    y = np.asarray(losses, dtype=np.float64).ravel()
    return np.sort(y[y > -np.inf])


def _survival(n: int, ks: ArrayLike) -> Floats:
    """The chance that k of n trials all rank behind the i-th best, `(m, n + 1)` for i = 0..n."""
    k = np.asarray(ks, dtype=np.float64).ravel()[:, None]
    if np.any(k < 1):
        raise ValueError(f"the best of k needs k of at least 1, got {k.min():g}")
    behind = n - np.arange(n + 1.0)
    with np.errstate(invalid="ignore"):
        logs = (
            special.gammaln(behind + 1)
            - special.gammaln(behind - k + 1)
            - special.gammaln(n + 1.0)
            + special.gammaln(n - k + 1)
        )
    chance = np.where(behind >= k, np.exp(np.minimum(logs, 0.0)), 0.0)
    return np.where(k > n, np.nan, chance)
