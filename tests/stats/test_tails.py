"""P-values beyond the number of draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.stats.tails import tail_p


@pytest.mark.parametrize("seed", range(3))
def test_a_normal_tail_is_not_called_lighter_than_it_is(seed: int) -> None:
    null = np.random.default_rng(seed).standard_normal(2000)
    for z, truth in ((1.0, 0.1587), (3.5, 2.3e-4), (5.0, 2.9e-7)):
        assert tail_p(z, null) > 0.5 * truth
    assert tail_p(5.0, null) < 1e-4


def test_a_heavy_tail_stays_heavy() -> None:
    null = (1.0 - np.random.default_rng(1).random(4000)) ** -0.25
    assert 0.1 < tail_p(10.0, null) / 1e-4 < 10.0


def test_few_or_equal_draws_are_only_counted() -> None:
    assert tail_p(9.0, np.arange(5.0)) == pytest.approx(1 / 6)
    assert tail_p(9.0, np.zeros(200)) == pytest.approx(1 / 201)


@given(st.floats(-3.0, 30.0), st.floats(0.0, 5.0))
def test_a_larger_value_is_never_likelier(value: float, more: float) -> None:
    null = np.random.default_rng(0).exponential(size=300)
    p, q = tail_p(value, null), tail_p(value + more, null)
    assert 0.0 <= q <= p * (1 + 1e-9) <= 1.01
    assert not math.isnan(p)
