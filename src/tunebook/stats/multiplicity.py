"""Many tests at once: p-values that keep the chance of any false alarm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tunebook.stats.arrays import Floats


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p-values, `(n,)` for `(n,)`, in the order given.

    Rejecting where the adjusted value is at most a keeps the chance of any false rejection at a,
    however the tests depend on one another. NaN means that no test was made: it stays NaN and
    does not count.

    >>> holm([0.01, 0.04, 0.03]).round(12).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p_values, dtype=np.float64).ravel()
    adjusted = np.full(raw.shape, np.nan)
    made = np.flatnonzero(~np.isnan(raw))
    order = made[np.argsort(raw[made], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * raw[order]), 1.0)
    return adjusted
