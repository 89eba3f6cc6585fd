"""The arrays that statistics read and give back, and which of their values can be used."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

_LARGEST = 1e100


def usable(values: Floats) -> Bools:
    """Which values can be computed with: finite, and their squares too.

    >>> usable(np.array([1.0, np.nan, -np.inf, 1e200])).tolist()
    [True, False, False, False]
    """
    return np.asarray(np.abs(values) < _LARGEST)
