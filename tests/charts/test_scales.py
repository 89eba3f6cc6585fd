"""Rulers: every finite value has a place, whatever the data; ticks are few, round and distinct."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tunebook.charts.figures import Axis, Scale
from tunebook.charts.scales import Ruler, ruler, short

numbers = st.floats(allow_nan=True, allow_infinity=True)
sensible = st.floats(-1e12, 1e12, allow_nan=False)
positive = st.floats(1e-12, 1e12)


def test_no_data_still_make_an_axis() -> None:
    assert ruler(Axis("x"), []) == Ruler("linear", -0.04, 1.04)
    assert ruler(Axis("x", "log"), [[-1.0, 0.0, math.nan]]).low == pytest.approx(10**-0.04)
    assert ruler(Axis("x", "category"), []) == Ruler("category", -0.5, 0.5)


def test_constant_data_stand_in_the_middle() -> None:
    for scale, value in (("linear", 0.5), ("linear", 0.0), ("linear", -3e8), ("log", 1e-3)):
        made = ruler(Axis("x", scale), [[value, value]])  # type: ignore[arg-type]
        assert made.positions(value) == pytest.approx(0.5)


def test_given_ends_are_kept_and_turned_where_they_are_the_wrong_way_round() -> None:
    made = ruler(Axis("x", low=0.0, high=1.0), [[-5.0, 5.0]])
    assert (made.low, made.high) == (0.0, 1.0)
    made = ruler(Axis("x", low=1.0, high=0.0), [])
    assert (made.low, made.high) == (0.0, 1.0)
    assert ruler(Axis("x", "log", low=0.0), [[1.0, 10.0]]).low > 0.5


def test_an_end_given_beyond_the_data_still_leaves_a_range() -> None:
    assert ruler(Axis("x", low=7.0), [[1.0, 2.0]]).low == 7.0
    assert ruler(Axis("x", high=-7.0), [[1.0, 2.0]]).high == -7.0


def test_bars_stand_on_the_axis() -> None:
    made = ruler(Axis("trials"), [[3.0, 9.0]], firm=[[0.0, 0.0]])
    assert made.low == 0.0
    assert made.high > 9.0


@given(
    st.lists(numbers, max_size=20),
    st.lists(numbers, max_size=3),
    st.sampled_from(["linear", "log"]),
    st.none() | numbers,
    st.none() | numbers,
    st.integers(2, 12),
)
def test_any_data_make_a_ruler_with_ticks_inside_it(
    values: list[float],
    firm: list[float],
    scale: Scale,
    low: float | None,
    high: float | None,
    at_most: int,
) -> None:
    made = ruler(Axis("x", scale, low, high), [values], [firm])
    assert math.isfinite(made.low) and math.isfinite(made.high)
    assert made.low < made.high
    assert scale == "linear" or made.low > 0
    ticks = made.ticks(at_most)
    assert len(ticks) <= at_most
    places = made.positions([tick.value for tick in ticks])
    assert np.all(places > -1e-6)
    assert np.all(places < 1 + 1e-6)
    assert np.all(np.diff(places) > 0)


@given(st.lists(sensible, min_size=1, max_size=20), st.integers(2, 12))
def test_linear_data_lie_within_the_ends_and_keep_their_order(
    values: list[float], at_most: int
) -> None:
    made = ruler(Axis("x"), [values])
    places = made.positions(sorted(values))
    assert places.min() >= 0
    assert places.max() <= 1
    assert np.all(np.diff(places) >= 0)
    texts = [tick.text for tick in made.ticks(at_most)]
    assert len(set(texts)) == len(texts)


@given(st.lists(positive, min_size=2, max_size=20), st.integers(4, 12))
def test_log_ticks_are_two_at_least_and_are_what_they_say(
    values: list[float], at_most: int
) -> None:
    assume(max(values) > 1.2 * min(values))
    made = ruler(Axis("x", "log"), [values])
    ticks = made.ticks(at_most)
    assert len(ticks) >= 2
    assert all(_number(tick.text) == pytest.approx(tick.value, rel=1e-9) for tick in ticks)


@given(st.lists(sensible, min_size=2, max_size=20), st.integers(3, 12))
def test_linear_ticks_are_what_they_say(values: list[float], at_most: int) -> None:
    ticks = ruler(Axis("x"), [values]).ticks(at_most)
    assert len(ticks) >= 1
    for tick in ticks:
        assert _number(tick.text) == pytest.approx(tick.value, rel=1e-9, abs=1e-300)


def _number(text: str) -> float:
    powers = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    return float(text[:-1]) * powers[text[-1]] if text[-1] in powers else float(text)


def _texts(scale: Scale, low: float, high: float, at_most: int = 6) -> list[str]:
    return [tick.text for tick in Ruler(scale, low, high).ticks(at_most)]


def test_linear_ticks_are_multiples_of_1_2_and_5() -> None:
    assert _texts("linear", 0.0, 1.0) == ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert _texts("linear", 0.0, 52_000.0) == ["0", "10k", "20k", "30k", "40k", "50k"]
    assert _texts("linear", 0.0, 1.05e-4) == ["0", "2e-5", "4e-5", "6e-5", "8e-5", "1e-4"]
    assert _texts("linear", -0.031, 0.02) == ["-0.03", "-0.02", "-0.01", "0", "0.01", "0.02"]
    assert _texts("linear", 2000.0, 2600.0, 4) == ["2000", "2200", "2400", "2600"]
    assert _texts("linear", 1e6, 2.6e6, 4) == ["1.0M", "1.5M", "2.0M", "2.5M"]


def test_log_ticks_are_decades_with_2_and_5_where_they_are_few() -> None:
    assert _texts("log", 1e-5, 1e-1) == ["1e-5", "1e-4", "0.001", "0.01", "0.1"]
    assert _texts("log", 1e-3, 1e-1, 8) == [
        "0.001",
        "0.002",
        "0.005",
        "0.01",
        "0.02",
        "0.05",
        "0.1",
    ]
    assert _texts("log", 1e-12, 1e4, 6) == ["1e-12", "1e-9", "1e-6", "0.001", "1", "1000"]
    assert _texts("log", 0.21, 0.34) == ["0.25", "0.30"]


def test_categories_are_all_named_at_whole_positions() -> None:
    made = ruler(Axis("", "category", categories=("adam", "sgd")), [[99.0]])
    assert [(tick.value, tick.text) for tick in made.ticks(1)] == [(0.0, "adam"), (1.0, "sgd")]
    assert made.positions([0.0, 1.0]).tolist() == [0.25, 0.75]


def test_what_has_no_place_and_what_is_far_out() -> None:
    places = Ruler("log", 1.0, 100.0).positions([math.nan, -1.0, 0.0, math.inf])
    assert np.isnan(places[:2]).all()
    assert places[2:].tolist() == [-math.inf, math.inf]


@given(st.floats(-1e307, 1e307))
def test_short_numbers_are_short_and_near(value: float) -> None:
    text = short(value)
    assert len(text) <= 11
    assert _number(text) == pytest.approx(value, rel=1e-3, abs=0)
