"""One p-value from those of several trials: of the best few, and of any.

A fault of the program shows in several of the best trials; one of them alone is often too noisy to
be sure. Under the null the noise of different trials is independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

# How many of the best trials of a setting are looked at together.
BEST_FEW = 3
# A trial this unlikely under noise alone is counted; one in a hundred is, by chance.
CLEAR = 0.01


def fisher(p_values: Sequence[float]) -> float:
    """Fisher's combination of independent p-values; 1 for none.

    >>> round(fisher([0.05, 0.05, 0.05]), 4), fisher([])
    (0.0063, 1.0)
    """
    if not len(p_values):
        return 1.0
    logs = np.log(np.maximum(np.asarray(p_values, dtype=np.float64), 1e-300))
    return float(special.chdtrc(2 * len(logs), -2.0 * float(logs.sum())))


def p_of_best(p_values: Sequence[float]) -> float:
    """The chance that the best trial, or the best few together, show as much; best first.

    >>> p_of_best([0.001, 0.9, 0.9]), p_of_best([0.05, 0.05, 0.05]) < 0.02
    (0.002, True)
    """
    if not len(p_values):
        return 1.0
    return min(1.0, 2.0 * min(float(p_values[0]), fisher(p_values)))


def p_of_any(p_values: Sequence[float]) -> float:
    """The chance that healthy trials show as much in any way: one very clear, or many clear ones.

    >>> p_of_any([0.5, 0.2, 0.9]), p_of_any([])
    (1.0, 1.0)
    >>> p_of_any([1e-6, 0.5]) < 1e-5 and p_of_any([0.01] * 5 + [0.5] * 95) < 0.01
    True
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not len(p):
        return 1.0
    clearest = float(p.min()) * len(p)
    count = int(np.count_nonzero(p <= CLEAR))
    many = float(special.bdtrc(count - 1, len(p), CLEAR)) if count else 1.0
    return min(1.0, 2.0 * min(clearest, many))
