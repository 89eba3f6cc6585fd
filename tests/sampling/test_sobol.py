"""Sobol points of scipy, with random access."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from tunebook.core.hashing import derive_seed
from tunebook.sampling.sobol import sobol_unit


@given(st.integers(0, 2**31), st.integers(0, 20), st.integers(0, 2000))
def test_points_lie_in_the_unit_interval(seed: int, dimension: int, index: int) -> None:
    assert 0.0 <= sobol_unit(seed, "x", dimension, index) < 1.0


def test_random_access_is_scipys_sequence() -> None:
    """Across the borders of blocks, and without an engine that has to be run from the start."""
    rng = np.random.default_rng(derive_seed(5, "sobol", "lr"))
    column = qmc.Sobol(4, rng=rng).random(1024)[:, 3]
    for index in (0, 1, 255, 256, 257, 511, 512, 1023):
        assert sobol_unit(5, "lr", 3, index) == column[index]


def test_seeds_and_names_matter() -> None:
    def sequence(seed: int, name: str) -> tuple[float, ...]:
        return tuple(sobol_unit(seed, name, 1, index) for index in range(8))

    assert len({sequence(0, "a"), sequence(1, "a"), sequence(0, "b")}) == 3


def test_columns_with_scrambles_of_their_own_are_still_a_net() -> None:
    """A hallmark of Sobol's first two dimensions: every box of volume 1/n is hit once."""
    points = [(sobol_unit(0, "a", 0, i), sobol_unit(0, "b", 1, i)) for i in range(64)]
    for bits in range(7):
        boxes = {(math.floor(x * 2**bits), math.floor(y * 2 ** (6 - bits))) for x, y in points}
        assert len(boxes) == 64


def test_as_even_as_scipys() -> None:
    def ours(seed: int) -> list[list[float]]:
        return [[sobol_unit(seed, f"x{d}", d, index) for d in range(5)] for index in range(64)]

    mine = np.mean([qmc.discrepancy(ours(seed)) for seed in range(20)])
    scipys = np.mean(
        [
            qmc.discrepancy(qmc.Sobol(5, rng=np.random.default_rng(seed)).random(64))
            for seed in range(20)
        ]
    )
    assert mine < 1.15 * scipys
