"""Mann and Whitney's test, exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from tunebook.stats.ranks import rank_p


@given(
    st.lists(st.integers(0, 10**9), min_size=2, max_size=16, unique=True).flatmap(
        lambda values: st.tuples(st.just(values), st.integers(1, len(values) - 1))
    )
)
def test_it_is_that_of_scipy(case: tuple[list[int], int]) -> None:
    values, split = case
    first, second = values[:split], values[split:]
    expected = mannwhitneyu(first, second, alternative="less", method="exact").pvalue
    assert rank_p(first, second) == pytest.approx(expected)


def test_infinite_values_are_the_worst() -> None:
    inf = math.inf
    assert rank_p([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(1 / 252)
    assert rank_p([1, 2, 3, 4, 5], [6, inf, inf, inf, inf]) == pytest.approx(1 / 252)
    assert rank_p([inf, inf], [1.0, 2.0]) == 1.0


def test_ties_count_against_the_first() -> None:
    assert rank_p([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]) == 1.0


def test_equals_are_told_apart_in_no_more_than_the_level() -> None:
    """Values that fail with the same chance in both samples."""
    rng = np.random.default_rng(0)
    values = np.where(rng.random((4000, 10)) < 0.3, np.inf, rng.normal(size=(4000, 10)))
    alarms = np.mean([(rank_p(row[:5], row[5:]) or 1.0) <= 0.025 for row in values])
    assert alarms <= 0.03


def test_what_has_no_rank() -> None:
    assert rank_p([], [1.0]) is None
    with pytest.raises(ValueError, match="has no rank"):
        rank_p([math.nan], [1.0])
