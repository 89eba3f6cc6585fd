"""Tests by permutation: what would be seen if the labels had nothing to do with the places.

Points are `(n, d)`, one row a trial; NaN means that a parameter does not exist in a trial. A null
distribution is exact where one can be computed, so that p-values are fine enough to be corrected
for many tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.stats import rankdata

from tunebook.stats.arrays import Bools, Floats, Ints

Side: TypeAlias = Literal["low", "high"]

_EXACT_UP_TO = 128
_FEW = 10


@dataclass(frozen=True, slots=True)
class Clustering:
    """Whether the best trials lie at one side of a coordinate: one-sided p-values.

    `top` of `trials` were looked at; `mean_rank` is their mean rank along the coordinate, scaled
    to 0 (lowest) .. 1 (highest), and 0.5 by chance.
    """

    low: float
    high: float
    mean_rank: float
    top: int
    trials: int


@dataclass(frozen=True, slots=True)
class Dependence:
    """The coordinate that a label depends on most; `side` is where the label is more frequent."""

    coordinate: int
    side: Side
    p: float


def top_clustering(
    coordinate: ArrayLike, losses: ArrayLike, share: float = 0.2
) -> Clustering | None:
    """Do the best trials cluster at the low or the high side of a coordinate?

    Both are `(n,)`. The statistic is the sum of the ranks of the best `share` of the trials, which
    uses how far out they lie where a count beyond a line would not. Rows with NaN are left out; a
    loss of +inf counts as a trial, and never as one of the best. None for fewer than 5 trials, or
    when the coordinate does not vary.
    """
    x = np.asarray(coordinate, dtype=np.float64).ravel()
    y = np.asarray(losses, dtype=np.float64).ravel()
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    n = len(x)
    feasible = int(np.count_nonzero(y < np.inf))
    if n < 5 or not feasible or np.all(x == x[0]):
        return None
    top = min(max(2, math.ceil(share * n)), feasible)
    ranks = rankdata(x)
    chosen = ranks[np.argsort(y, kind="stable")[:top]]
    total = float(chosen.sum())
    low = rank_sum_p(ranks, top, total)
    high = rank_sum_p(n + 1 - ranks, top, top * (n + 1) - total)
    return Clustering(low, high, (total / top - 1) / (n - 1), top, n)


def rank_sum_p(ranks: ArrayLike, chosen: int, total: float) -> float:
    """The chance that `chosen` of the ranks `(n,)`, drawn at random, sum to at most `total`.

    Exact, with ties, up to 128 ranks; beyond, the normal approximation with the variance of the
    ties, whose tail is slightly heavy.

    >>> rank_sum_p([1, 2, 3, 4], chosen=2, total=3)
    0.16666666666666666
    """
    r = np.asarray(ranks, dtype=np.float64).ravel()
    n = len(r)
    if n <= _EXACT_UP_TO:
        return _exact_rank_sum(np.rint(2 * r).astype(np.int64), chosen, round(2 * total))
    spread = math.sqrt(chosen * (n - chosen) / (n - 1) * float(r.var()))
    return float(special.ndtr((total + 0.5 - chosen * float(r.mean())) / spread))


def _exact_rank_sum(doubled: Ints, chosen: int, total: int) -> float:
    """`ways[k, s]` grows rank by rank: the number of ways to pick k of them with the sum s."""
    if total < 0:
        return 0.0
    ways = np.zeros((chosen + 1, total + 1))
    ways[0, 0] = 1.0
    for rank in np.sort(doubled):
        if rank > total:
            break
        ways[1:, rank:] += ways[:-1, : total + 1 - rank]
    return float(min(1.0, ways[chosen].sum() / special.comb(len(doubled), chosen)))


def label_dependence(
    points: ArrayLike, labels: ArrayLike, draws: int = 4000, seed: int = 0
) -> Dependence | None:
    """Does a label (infeasible, failed) depend on any coordinate?

    `points` is `(n, d)`, `labels` `(n,)` of booleans. The statistic is the largest rank-sum
    statistic of any coordinate, in units of its null standard deviation; p is its chance under
    permuted labels, so it is corrected for the number of coordinates. Where fewer than 10
    permutations reach it, p is the exact p-value of the coordinate times twice their number, which
    is valid and not limited by the draws. None when all labels agree, or no coordinate varies.
    """
    x = _table(points)
    label = np.asarray(labels, dtype=bool).ravel()
    n, positive = len(label), int(label.sum())
    scores = _centred_ranks(x)
    scale = np.sqrt((scores**2).sum(axis=0) * positive * (n - positive) / max(n * (n - 1), 1))
    varies = scale > 0.0
    if not varies.any():
        return None
    units = np.where(varies, scores / np.where(varies, scale, 1.0), 0.0)
    observed = label @ units
    best = int(np.argmax(np.abs(observed)))
    null = np.abs(permuted(label, draws, seed) @ units).max(axis=1)
    reached = int(np.count_nonzero(null >= abs(observed[best]) - 1e-9))
    p = (reached + 1) / (draws + 1)
    if reached < _FEW:
        p = min(1.0, 2 * int(varies.sum()) * _one_coordinate(x[:, best], label))
    return Dependence(best, "high" if observed[best] > 0 else "low", p)


def permuted(labels: Bools, draws: int, seed: int) -> Floats:
    """Permutations of labels as zeros and ones, `(draws, n)`."""
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(labels.astype(np.float64), (draws, 1)), axis=1)


def _one_coordinate(x: Floats, label: Bools) -> float:
    """The smaller of the two one-sided exact p-values along one coordinate."""
    known = ~np.isnan(x)
    ranks, chosen = rankdata(x[known]), label[known]
    count, total, n = int(chosen.sum()), float(ranks[chosen].sum()), len(ranks)
    return min(
        rank_sum_p(ranks, count, total),
        rank_sum_p(n + 1 - ranks, count, count * (n + 1) - total),
    )


def _centred_ranks(x: Floats) -> Floats:
    """Ranks of each column less their mean; 0 where a coordinate does not exist."""
    scores = np.zeros(x.shape)
    for column in range(x.shape[1]):
        known = ~np.isnan(x[:, column])
        if known.any():
            ranks = rankdata(x[known, column])
            scores[known, column] = ranks - ranks.mean()
    return scores


def _table(points: ArrayLike) -> Floats:
    x = np.asarray(points, dtype=np.float64)
    return x[:, None] if x.ndim == 1 else x
