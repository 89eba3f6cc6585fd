"""Curves, and blocks on their way to the store."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.curves import Block, Curve, columns

steps = st.lists(st.integers(0, 50), max_size=12).map(sorted)


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    x = draw(steps)
    y = draw(st.lists(st.floats(), min_size=len(x), max_size=len(x)))
    return Curve.of(x, y)


@given(steps)
def test_a_step_logged_twice_keeps_its_last_value(x: list[int]) -> None:
    curve = Curve.of(x, range(len(x)), [float(n) for n in range(len(x))])
    last = {step: float(place) for place, step in enumerate(x)}
    assert dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True)) == last
    assert curve.seconds.tolist() == curve.values.tolist()
    assert len(curve) == len(last)


@given(curves(), st.integers(-1, 51))
def test_until_keeps_what_is_not_later(curve: Curve, step: int) -> None:
    kept = curve.until(step)
    assert kept.steps.tolist() == [s for s in curve.steps.tolist() if s <= step]
    assert len(kept.values) == len(kept.seconds) == len(kept)


@given(curves(), curves())
def test_a_later_curve_supersedes_what_it_overlaps(one: Curve, other: Curve) -> None:
    both = one.then(other)
    assert np.all(np.diff(both.steps) > 0)
    if len(other):
        first = int(other.steps[0])
        assert both.until(first - 1) == one.until(first - 1)
        assert both.steps.tolist()[-len(other) :] == other.steps.tolist()
    else:
        assert both == one


def test_curves_are_equal_by_steps_and_values() -> None:
    assert Curve.of([1, 2], [0.5, math.nan], [0, 1]) == Curve.of([1, 2], [0.5, math.nan], [5, 6])
    assert Curve.of([1], [0.5]) != Curve.of([1], [0.6])
    assert Curve.of([1], [0.5]) != Curve.of([2], [0.5])
    assert Curve.of([], []) != []


def test_steps_may_not_go_back() -> None:
    with pytest.raises(ValueError, match="the steps of a curve must not go back"):
        Curve.of([1, 3, 2], [0, 0, 0])


def test_curves_as_text() -> None:
    assert repr(Curve.of([], [])) == "Curve(no points)"
    assert repr(Curve.of([5], [math.inf])) == "Curve(1 points, steps 5 to 5, last value inf)"


def test_blocks_turn_rows_into_columns() -> None:
    block = Block.of(["loss", "error"], [(1, 0.5, (2.0, 0.9)), (2, 1.5, (1.0, 0.8))])
    assert block.names == ("loss", "error")
    assert block.steps.tolist() == [1, 2]
    assert block.seconds.tolist() == [0.5, 1.5]
    assert block.values.tolist() == [[2.0, 1.0], [0.9, 0.8]]
    assert len(block) == 2
    assert Block.of(["loss"], []).values.shape == (1, 0)


def test_blocks_are_equal_by_names_steps_and_values() -> None:
    rows = [(1, 0.5, (math.nan,))]
    assert Block.of(["a"], rows) == Block.of(["a"], [(1, 9.0, (math.nan,))])
    assert Block.of(["a"], rows) != Block.of(["b"], rows)
    assert Block.of(["a"], rows) != Block.of(["a"], [(2, 0.5, (math.nan,))])
    assert Block.of(["a"], rows) != "a"


def test_columns_join_blocks_of_different_metrics() -> None:
    blocks = [
        Block.of(["loss"], [(1, 0.1, (3.0,)), (2, 0.2, (2.0,))]),
        Block.of(["loss", "error"], [(2, 0.3, (2.5, 0.5)), (4, 0.4, (1.0, 0.4))]),
    ]
    found = columns(blocks)
    assert found == {
        "loss": Curve.of([1, 2, 4], [3.0, 2.5, 1.0]),
        "error": Curve.of([2, 4], [0.5, 0.4]),
    }
    assert found["loss"].seconds.tolist() == [0.1, 0.3, 0.4]
    assert columns([]) == {}
