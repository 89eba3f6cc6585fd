"""Two shares of few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from tunebook.stats.shares import fewer_p


def test_fewer_of_some_than_of_others() -> None:
    assert fewer_p(0, 5, 4, 5) == pytest.approx(5 / 210)
    assert fewer_p(2, 5, 2, 5) > 0.5
    assert fewer_p(0, 5, 0, 5) == fewer_p(5, 5, 5, 5) == 1.0


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_it_is_fishers(some: int, others: int, data: st.DataObject) -> None:
    first, second = data.draw(st.integers(0, some)), data.draw(st.integers(0, others))
    table = [[first, some - first], [second, others - second]]
    expected = fisher_exact(table, alternative="less").pvalue
    assert fewer_p(first, some, second, others) == pytest.approx(expected)
