"""Thinning: within its budget, and nothing that can be seen is lost."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tunebook.charts.thinning import kept, thin

values = arrays(np.float64, st.integers(1, 400), elements=st.floats(-1e6, 1e6) | st.just(np.nan))
budgets = st.integers(12, 120)


@given(values, budgets)
def test_extremes_ends_and_gaps_are_kept_within_the_budget(y: np.ndarray, budget: int) -> None:
    x = np.arange(len(y), dtype=float)
    index = kept(x, y, budget)
    assert len(index) <= max(budget, 12)
    assert index[0] == 0
    assert index[-1] == len(y) - 1
    assert np.all(np.diff(index) > 0)
    left = y[index]
    assert np.isnan(left).any() == np.isnan(y).any()
    if not np.isnan(y).all():
        assert np.nanmax(left) == np.nanmax(y)
        assert np.nanmin(left) == np.nanmin(y)


@given(values, budgets, st.integers(1, 20))
def test_every_column_keeps_its_own_extremes(y: np.ndarray, budget: int, power: int) -> None:
    x = np.linspace(0, 1, len(y)) ** power
    index = kept(x, y, budget)
    if len(index) == len(y):
        return
    columns = budget // 6
    column = np.minimum((x * columns).astype(int), columns - 1)
    for one in np.unique(column):
        whole, left = y[column == one], y[index][column[index] == one]
        if not np.isnan(whole).all():
            assert np.nanmax(left) == np.nanmax(whole)
            assert np.nanmin(left) == np.nanmin(whole)


@given(values, budgets)
def test_a_break_between_columns_stays_a_break(y: np.ndarray, budget: int) -> None:
    """Two kept neighbours that are drawn joined were never parted by a gap of another column."""
    x = np.arange(len(y), dtype=float)
    index = kept(x, y, budget)
    if len(index) == len(y):
        return
    columns = budget // 6
    column = np.minimum((x / x[-1] * columns).astype(int), columns - 1)
    for a, b in itertools.pairwise(index):
        if column[a] != column[b] and not np.isnan(y[[a, b]]).any():
            assert not np.isnan(y[a:b]).any()


def test_what_does_not_rise_is_cut_by_number() -> None:
    turn = np.linspace(0, 20, 5000)
    y = np.sin(turn)
    y[1234] = 9.0
    thinned = thin(np.cos(turn), y, 300)
    assert thinned.y.max() == 9.0
    assert len(thinned.y) <= 300
    assert thinned.left_out == 5000 - len(thinned.y)


@pytest.mark.parametrize("x", [np.zeros(500), np.full(500, np.nan), np.arange(500.0) * 1e305])
def test_odd_places_still_keep_the_spike(x: np.ndarray) -> None:
    y = np.zeros(500)
    y[77] = 1.0
    index = kept(x, y, 60)
    assert len(index) <= 60
    assert 77 in index or np.isnan(x).all()


def test_infinity_is_an_extreme() -> None:
    y = np.zeros(1000)
    y[[10, 20]] = np.inf, -np.inf
    left = thin(np.arange(1000.0), y, 24).y
    assert np.isinf(left).sum() == 2


def test_a_short_line_is_left_alone() -> None:
    x = np.arange(10.0)
    assert thin(x, x, 4).left_out == 0
