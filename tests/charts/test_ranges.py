"""Axes that one outlier does not set, and places of values on them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tunebook.charts.figures import Axis, Scale
from tunebook.charts.ranges import parameter_axis, position, unit, unit_of, value_axis, widened
from tunebook.core.domains import Choice, Float, Int
from tunebook.core.space import Parameter, Role


def test_a_long_upper_tail_is_seen_on_a_log_axis() -> None:
    assert value_axis("loss", [0.1, 0.1, 9.0]).scale == "log"
    assert value_axis("loss", [0.1, 0.1, 0.9]).scale == "linear"
    assert value_axis("loss", [0.0, 0.1, 9.0]).scale == "linear"


def test_a_lone_value_far_away_does_not_set_the_end() -> None:
    many = np.linspace(-1, 1, 200)
    axis = value_axis("gain", [*many, -1e6])
    assert axis.low is not None and -1.5 < axis.low < -0.9
    assert axis.high is None


def test_values_that_have_no_place_are_ignored() -> None:
    assert value_axis("x", [math.nan, math.inf, 1e305]) == Axis("x")
    assert value_axis("x", []) == Axis("x")


def test_true_and_one_are_two_places() -> None:
    parameter = Parameter("a", Role.NUISANCE, Choice((True, 1, "x")))
    assert [position(parameter, value) for value in (True, 1, "x")] == [0.0, 1.0, 2.0]
    assert math.isnan(position(parameter, "y"))
    assert parameter_axis(parameter).categories == ("true", "1", "x")


def test_a_value_outside_its_domain_has_no_share() -> None:
    parameter = Parameter("a", Role.NUISANCE, Int(1, 4))
    assert unit(parameter, 2) == 0.375
    assert math.isnan(unit(parameter, 9))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_shares_of_values_keep_their_order(values: list[float]) -> None:
    array = np.array(values)
    shares = unit_of(value_axis("", array), array)
    usable = ~np.isnan(shares)
    assert np.all((shares[usable] >= 0) & (shares[usable] <= 1))
    assert np.all(np.diff(shares[np.argsort(array)]) >= 0)


@given(st.floats(1e-300, 1e299), st.floats(1.0001, 10), st.booleans())
def test_the_axis_of_a_range_holds_its_bounds(low: float, factor: float, log: bool) -> None:
    domain = Float(low, low * factor, log)
    axis = parameter_axis(Parameter("a", Role.NUISANCE, domain))
    assert axis.low is not None and axis.high is not None
    assert axis.low <= domain.low * (1 + 1e-12) and domain.high * (1 - 1e-12) <= axis.high


@given(st.lists(st.floats()), st.lists(st.floats()), st.sampled_from(["linear", "log"]))
def test_other_values_widen_an_axis_by_half_at_most(
    inside: list[float], beyond: list[float], scale: Scale
) -> None:
    axis = widened(Axis("x", scale), inside, beyond)
    usable = [v for v in inside if abs(v) <= 1e300 and (scale == "linear" or v > 0)]
    slack = 1 + 1e-9 if scale == "log" else 1.0
    assert axis.high is None or axis.high * slack >= max(usable)
    assert axis.low is None or axis.low <= min(usable) * slack
    assert widened(axis, inside, beyond) == axis


def test_a_log_axis_is_widened_by_half_its_decades() -> None:
    assert widened(Axis("x", "log"), [1.0, 100.0], [1e9]).high == 1000.0
    assert widened(Axis("x", "log"), [1.0, 100.0], [200.0]).high is None
