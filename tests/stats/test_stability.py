"""Stable, unstable early, unstable all of a sudden."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunebook.stats.periodicity import ar1_noise
from tunebook.stats.stability import Kind, training_stability

N = 200
AT = np.arange(N)


def loss(seed: int = 0, rho: float = 0.5, sd: float = 0.05) -> np.ndarray:
    trend = 0.3 + 2.0 * np.exp(-AT / 40.0)
    return np.asarray(trend * np.exp(sd * ar1_noise(rho, 1, N, seed)[0]))


@pytest.mark.parametrize(("rho", "sd"), [(0.0, 0.05), (0.0, 0.3), (0.8, 0.05), (0.8, 0.2)])
def test_a_healthy_loss_is_stable(rho: float, sd: float) -> None:
    found = [training_stability(AT, loss(seed, rho, sd)) for seed in range(60)]
    assert sum(one is not None and one.kind is not Kind.STABLE for one in found) <= 3


PLANTED = {
    "blow-up": (np.exp(np.clip(AT - 100, 0, None) / 20.0), Kind.SUDDEN, 105, 15, False),
    "early spike": (np.where((AT > 8) & (AT < 16), 4.0, 1.0), Kind.EARLY, 9, 3, True),
    "jump": (np.where(AT >= 120, 3.0, 1.0), Kind.SUDDEN, 120, 12, False),
    "early rise": (1.0 + 5.0 * np.clip((AT - 3) / 10.0, 0.0, 1.0), Kind.EARLY, 8, 8, True),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_instability_is_found(name: str) -> None:
    factor, kind, onset, slack, recovered = PLANTED[name]
    right = 0
    for seed in range(20):
        found = training_stability(AT, loss(seed) * factor)
        assert found is not None
        right += (
            found.kind is kind
            and found.onset is not None
            and abs(found.onset - onset) <= slack
            and found.recovered is recovered
        )
    assert right >= 18


def test_a_loss_that_ends_is_unstable_where_it_ends() -> None:
    y = loss()
    y[150:] = math.nan
    found = training_stability(AT, y)
    assert found is not None
    assert (found.kind, found.onset, found.recovered) == (Kind.SUDDEN, 150.0, False)
    at_once = training_stability([1, 2, 3], [1.0, math.inf, math.nan], early=10)
    assert at_once is not None
    assert (at_once.kind, at_once.onset) == (Kind.EARLY, 2.0)


def test_early_is_what_the_caller_says() -> None:
    y = loss() * np.where(AT >= 120, 3.0, 1.0)
    found = training_stability(AT, y, early=500.0)
    assert found is not None and found.kind is Kind.EARLY


def test_a_certain_but_small_rise_is_stable() -> None:
    y = np.full(N, 1.0) * np.where(AT >= 120, 1.1, 1.0) * np.exp(0.001 * loss(1))
    found = training_stability(AT, y)
    assert found is not None
    assert found.kind is Kind.STABLE
    assert found.factor == pytest.approx(1.1, rel=0.02)


@settings(max_examples=20)
@given(st.floats(1e-3, 1e3), st.integers(0, 100))
def test_the_unit_of_the_loss_does_not_matter(unit: float, seed: int) -> None:
    here, there = (training_stability(AT, u * loss(seed)) for u in (1.0, unit))
    assert here is not None and there is not None
    assert there.kind is here.kind
    assert there.factor == pytest.approx(here.factor)


def test_what_is_short_or_not_positive_is_not_judged() -> None:
    assert training_stability([], []) is None
    assert training_stability(range(10), np.ones(10)) is None
    assert training_stability(range(50), np.zeros(50)) is None
    constant = training_stability(range(50), np.ones(50))
    assert constant is not None and constant.kind is Kind.STABLE
    with pytest.raises(ValueError, match="got 1 steps and 0 losses"):
        training_stability([1], [])
