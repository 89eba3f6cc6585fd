"""Where a label is: the cut of one coordinate, or the corner of two, that separates it best.

Points are `(n, d)`, labels `(n,)` of booleans. Every cut and corner is tried on the labels and on
permuted labels, so that p says how often the search finds as much where there is nothing.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tunebook.stats.arrays import Bools, Floats, Ints, usable
from tunebook.stats.permutation import Side, permuted
from tunebook.stats.tails import tail_p

_MOST_CUTS = 32
_MOST_CORNER_CUTS = 8
_CHUNK = 100


@dataclass(frozen=True, slots=True)
class Cut:
    """One side of a coordinate: beyond `threshold`, on its `side`."""

    coordinate: int
    side: Side
    threshold: float

    def holds(self, points: ArrayLike) -> Bools:
        """Which points `(n, d)` lie beyond the cut; one without the coordinate does not."""
        x = np.asarray(points, dtype=np.float64)[:, self.coordinate]
        return np.asarray(x >= self.threshold if self.side == "high" else x <= self.threshold)


@dataclass(frozen=True, slots=True)
class Region:
    """Where the label is frequent: the points at which all cuts hold (one cut, or a corner's two).

    `inside` and `outside` are the shares of labelled points, `trials` the points inside; p is
    corrected for the search. A corner's p is that of what it adds to the best cut.
    """

    cuts: tuple[Cut, ...]
    inside: float
    outside: float
    trials: int
    score: float
    p: float


def best_cut(
    points: ArrayLike, labels: ArrayLike, draws: int = 500, seed: int = 0
) -> Region | None:
    """The side of one coordinate that the label gathers at most clearly.

    The score is the log-likelihood ratio of two shares against one. None when all labels agree,
    or there is nowhere to cut.
    """
    x, label = _checked(points, labels)
    cuts = [(cut,) for column in range(x.shape[1]) for cut in _cuts(x, column, _MOST_CUTS)]
    if not cuts or label.all() or not label.any():
        return None
    return _search(x, label, cuts, permuted(label, draws, seed))


def best_corner(
    points: ArrayLike, labels: ArrayLike, draws: int = 500, seed: int = 0
) -> Region | None:
    """The corner of two coordinates that the label gathers in most clearly.

    Its p is that of what it adds to the best cut: labels are permuted only among the points
    beyond that cut, and among the others. None when all labels agree, or there is no corner.
    """
    x, label = _checked(points, labels)
    cut = best_cut(x, label, draws, seed)
    sides = [_cuts(x, column, _MOST_CORNER_CUTS) for column in range(x.shape[1])]
    corners = [
        pair
        for one, other in itertools.combinations(sides, 2)
        for pair in itertools.product(one, other)
    ]
    if cut is None or not corners:
        return None
    beyond = cut.cuts[0].holds(x)
    null = np.zeros((draws, len(label)))
    for place, stratum in enumerate((beyond, ~beyond)):
        null[:, stratum] = permuted(label[stratum], draws, seed + place)
    return _search(x, label, corners, null)


def _search(
    x: Floats, label: Bools, candidates: Sequence[tuple[Cut, ...]], null: Floats
) -> Region | None:
    """The candidate with the highest score; None when the label is not more frequent in any."""
    held = {cut: cut.holds(x) for cut in {cut for cuts in candidates for cut in cuts}}
    inside = np.array(
        [functools.reduce(np.logical_and, [held[cut] for cut in cuts]) for cuts in candidates]
    )
    sizes = inside.sum(axis=1)
    table = _scores(sizes, len(label), int(label.sum()))
    members = inside.astype(np.float32)
    rows = np.arange(len(sizes))
    observed = table[rows, inside @ label.astype(np.int64)]
    best = int(np.argmax(observed))
    if observed[best] <= 0.0:
        return None
    highest = np.empty(len(null))
    for start in range(0, len(null), _CHUNK):
        block = null[start : start + _CHUNK].astype(np.float32)
        counts = np.rint(members @ block.T).astype(np.int64)
        highest[start : start + _CHUNK] = table[rows[:, None], counts].max(axis=0)
    where = inside[best]
    return Region(
        candidates[best],
        float(label[where].mean()),
        float(label[~where].mean()),
        int(sizes[best]),
        float(observed[best]),
        tail_p(float(observed[best]) - 1e-9, highest),
    )


def _scores(sizes: Ints, n: int, positive: int) -> Floats:
    """The log-likelihood ratio for each region and number of labelled points in it.

    `(regions, positive + 1)`; 0 where the label is not more frequent inside.
    """
    size, hits = sizes[:, None].astype(float), np.arange(positive + 1.0)[None, :]
    hits = np.minimum(hits, size)
    rest, rest_hits = n - size, positive - hits
    ratio = (
        _log_likelihood(hits, size)
        + _log_likelihood(rest_hits, np.maximum(rest, rest_hits))
        - _log_likelihood(np.float64(positive), np.float64(n))
    )
    enriched = (hits * n > positive * size) & (rest_hits <= rest)
    return np.where(enriched, ratio, 0.0)


def _log_likelihood(hits: Floats | np.float64, size: Floats | np.float64) -> Floats:
    share = np.divide(hits, size, out=np.zeros(np.shape(hits)), where=np.asarray(size) > 0)
    return np.asarray(special.xlogy(hits, share) + special.xlog1py(size - hits, -share))


def _cuts(x: Floats, column: int, most: int) -> list[Cut]:
    """Cuts half-way between neighbouring values, at most `most` of them, each with both sides."""
    values = np.unique(x[~np.isnan(x[:, column]), column])
    if len(values) < 2:
        return []
    places = np.unique(np.linspace(0, len(values) - 2, min(most, len(values) - 1)).round())
    low = places.astype(np.int64)
    thresholds = (values[low] + values[low + 1]) / 2.0
    return [
        cut for t in thresholds.tolist() for cut in (Cut(column, "low", t), Cut(column, "high", t))
    ]


def _checked(points: ArrayLike, labels: ArrayLike) -> tuple[Floats, Bools]:
    x = np.asarray(points, dtype=np.float64)
    x = np.where(usable(x), x, np.nan)
    x = x[:, None] if x.ndim == 1 else x
    label = np.asarray(labels, dtype=bool).ravel()
    if len(x) != len(label):
        raise ValueError(f"each point needs a label, got {len(x)} points and {len(label)} labels")
    return x, label
