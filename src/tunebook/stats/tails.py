"""P-values from a simulated null distribution, finer than the number of draws."""

from __future__ import annotations

import math

import numpy as np

from tunebook.stats.arrays import Floats

_FEW = 10
_HEAVIEST = 0.5


def tail_p(observed: float, null: Floats) -> float:
    """The chance of a value of at least `observed` under draws `(B,)` of the null.

    Where fewer than 10 draws reach it, the top tenth of the draws is continued by a generalised
    Pareto tail, never lighter than an exponential one, so that a p-value to be corrected for many
    tests costs a few hundred draws and not many thousands. Never above the counted share.

    >>> null = -np.log(1.0 - (np.arange(1000) + 0.5) / 1000)
    >>> tail_p(1.0, null)
    0.36863136863136864
    >>> 4e-6 < tail_p(12.0, null) < 9e-6
    True
    """
    reached = int(np.count_nonzero(null >= observed))
    counted = (reached + 1) / (len(null) + 1)
    above = len(null) // 10
    if reached >= _FEW or above < _FEW:
        return counted
    ordered = np.sort(null)
    excess = ordered[-above:] - ordered[-above - 1]
    mean, variance = float(excess.mean()), float(excess.var())
    if mean <= 0.0:
        return counted
    shape = min(max(0.5 * (1.0 - mean**2 / variance), 0.0), _HEAVIEST) if variance > 0 else 0.0
    scale = mean * (1.0 - shape)
    far = (observed - float(ordered[-above - 1])) / scale
    survival = math.exp(-far) if shape == 0.0 else (1.0 + shape * far) ** (-1.0 / shape)
    return min(counted, above / len(null) * survival)
