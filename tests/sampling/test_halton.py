"""The scrambled Halton sequence: golden values, and what makes it quasi-random."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from tunebook.core.space import MOST_PARAMETERS
from tunebook.sampling.halton import halton_unit, primes

seeds = st.integers(-(2**63), 2**63)
names = st.text("abc._", min_size=1, max_size=8)


def test_golden_values() -> None:
    found = {
        dimension: [
            halton_unit(0, "learning_rate", dimension, index) for index in (0, 1, 2, 1000, 999_999)
        ]
        for dimension in (0, 1, 2, 9, 999)
    }
    assert found == {
        0: [
            0.722430571246589,
            0.22243057124658905,
            0.972430571246589,
            0.684344633746589,
            0.2683681093935617,
        ],
        1: [
            0.8260642081617607,
            0.4927308748284275,
            0.1593975414950941,
            0.5151359959989807,
            0.8368041899596775,
        ],
        2: [
            0.8003810365233343,
            0.00038103652333421056,
            0.40038103652333423,
            0.8029410365233343,
            0.37386506852333423,
        ],
        9: [
            0.579509586160307,
            0.1657164827120312,
            0.5450268275396174,
            0.6366665011629722,
            0.9219626588770037,
        ],
        999: [
            0.946740153673228,
            0.6285181559462422,
            0.7978577190223882,
            0.4750896927564455,
            0.6989270141926227,
        ],
    }
    assert halton_unit(7, "dropout", 3, 12) == 0.663700061961326


def test_there_is_a_prime_for_every_parameter() -> None:
    assert primes()[:10] == (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
    assert len(primes()) == MOST_PARAMETERS


@given(seeds, names, st.integers(0, 99), st.integers(0, 10**6))
def test_points_lie_in_the_unit_interval(seed: int, name: str, dimension: int, index: int) -> None:
    assert 0.0 <= halton_unit(seed, name, dimension, index) < 1.0


@given(seeds, names, st.integers(0, 7), st.integers(0, 3))
def test_every_elementary_interval_is_hit_once(
    seed: int, name: str, dimension: int, start: int
) -> None:
    """Any b^m consecutive points from a multiple of b^m on fall into different intervals."""
    base = primes()[dimension]
    for size in (base, base**2):
        units = [halton_unit(seed, name, dimension, start * size + i) for i in range(size)]
        hit = [math.floor(Fraction(unit) * size + Fraction(1, 2**40)) for unit in units]
        assert sorted(hit) == list(range(size))


def test_seeds_and_names_matter() -> None:
    def sequence(seed: int, name: str) -> tuple[float, ...]:
        return tuple(halton_unit(seed, name, 2, index) for index in range(25))

    assert sequence(0, "a") == sequence(0, "a")
    assert len({sequence(0, "a"), sequence(1, "a"), sequence(0, "b")}) == 3


def test_scrambles_are_unbiased() -> None:
    """Over many seeds, any one point is uniform: its mean lies within five standard errors."""
    for dimension in (0, 1, 5):
        units = [halton_unit(seed, "x", dimension, 3) for seed in range(500)]
        assert abs(np.mean(units) - 0.5) < 5 / math.sqrt(12 * 500)


@pytest.mark.parametrize("dimensions", [2, 5])
def test_as_even_as_scipys(dimensions: int) -> None:
    def ours(seed: int) -> list[list[float]]:
        return [
            [halton_unit(seed, f"x{d}", d, index) for d in range(dimensions)] for index in range(64)
        ]

    mine = np.mean([qmc.discrepancy(ours(seed)) for seed in range(20)])
    scipys = np.mean(
        [
            qmc.discrepancy(qmc.Halton(dimensions, rng=np.random.default_rng(seed)).random(64))
            for seed in range(20)
        ]
    )
    assert mine < 1.15 * scipys
