"""The Matern kernel against another implementation, and its slope against differences."""

from __future__ import annotations

import numpy as np
from scipy.special import gamma, kv

from tunebook.stats.kernels import matern, matern_slope, scaled, squared_differences


def test_the_kernel_is_the_bessel_formula_of_order_five_halves():
    distance = np.linspace(0.05, 4, 30)
    root = np.sqrt(5) * distance
    expected = 2 ** (1 - 2.5) / gamma(2.5) * root**2.5 * kv(2.5, root)
    assert np.allclose(matern(distance**2), expected)


def test_the_slope_is_that_of_finite_differences():
    squared = np.linspace(0.1, 9, 20)
    step = 1e-6
    slope = (matern(squared + step) - matern(squared - step)) / (2 * step)
    assert np.allclose(matern_slope(squared), slope, atol=1e-8)


def test_scaled_distances_are_euclidean_in_units_of_lengths():
    random = np.random.default_rng(0)
    left, right, lengths = random.random((4, 3)), random.random((5, 3)), np.array([0.5, 1.0, 3.0])
    apart = scaled(squared_differences(left, right, np.zeros(3, dtype=bool)), lengths)
    expected = [[np.sum(((a - b) / lengths) ** 2) for b in right] for a in left]
    assert np.allclose(apart, expected)
