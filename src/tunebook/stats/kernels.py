"""The Matern-5/2 kernel with a length for each dimension, numeric or categorical."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

_ROOT5 = float(np.sqrt(5.0))


def squared_differences(left: Array, right: Array, categories: Mask) -> Array:
    """(d, n, m): how far rows of `left` (n, d) and `right` (m, d) are apart in each dimension.

    Two categories are at distance 0 or 1, whatever their codes: the distance of one-hot codes,
    but for a factor that the length takes up.

    >>> left, right = np.array([[0.0, 2.0]]), np.array([[0.5, 1.0]])
    >>> squared_differences(left, right, np.array([False, True])).ravel().tolist()
    [0.25, 1.0]
    """
    apart = left.T[:, :, None] - right.T[:, None, :]
    apart *= apart
    apart[categories] = apart[categories] > 0
    return apart


def matern(squared_distance: Array) -> Array:
    """The correlation at a squared, scaled distance.

    >>> float(matern(np.zeros(1))[0])
    1.0
    """
    root = _ROOT5 * np.sqrt(squared_distance)
    return np.asarray((1.0 + root + root**2 / 3.0) * np.exp(-root))


def matern_slope(squared_distance: Array) -> Array:
    """The derivative of `matern` by the squared distance."""
    root = _ROOT5 * np.sqrt(squared_distance)
    return np.asarray(-5.0 / 6.0 * (1.0 + root) * np.exp(-root))


def scaled(differences: Array, lengths: Array) -> Array:
    """The squared distance in units of the lengths: (d, n, m) and (d,) give (n, m)."""
    return np.tensordot(lengths**-2.0, differences, axes=1)
