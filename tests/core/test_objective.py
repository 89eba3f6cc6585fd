"""How curves become one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.curves import Curve
from tunebook.core.errors import StudyError
from tunebook.core.objective import Constraint, Measure, Metric, Objective

INF, NAN = math.inf, math.nan
LOWER, HIGHER = Metric("error"), Metric("error", "higher")
CURVE = Curve.of([10, 20, 30, 40], [0.5, 0.2, NAN, 0.3])
logged = st.lists(st.floats(), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("objective", "measure"),
    [
        (Objective(LOWER), Measure(0.2, 20)),
        (Objective(HIGHER), Measure(0.5, 10)),
        (Objective(LOWER, "last"), Measure(0.3, 40)),
        (Objective(LOWER, "mean"), Measure(0.3, 40)),
        (Objective(Metric("loss")), None),
    ],
)
def test_measures(objective: Objective, measure: Measure | None) -> None:
    assert objective.measure({"error": CURVE}) == measure


def test_the_mean_is_over_the_last_points() -> None:
    curve = Curve.of([1, 2, 3], [9.0, 1.0, 2.0])
    assert Objective(LOWER, "mean", 2).measure({"error": curve}) == Measure(1.5, 3)
    assert Objective(LOWER, "mean", 9).measure({"error": curve}) == Measure(4.0, 3)


def test_last_and_mean_do_not_hide_what_is_not_finite() -> None:
    curve = Curve.of([1, 2], [0.5, NAN])
    for objective in (Objective(LOWER, "last"), Objective(LOWER, "mean", 2)):
        measure = objective.measure({"error": curve})
        assert measure is not None
        assert math.isnan(measure.value)


def test_nothing_finite_has_no_best() -> None:
    assert Objective(LOWER).measure({"error": Curve.of([1, 2], [NAN, INF])}) is None
    assert Objective(LOWER, "last").measure({"error": Curve.of([], [])}) is None


@given(logged)
def test_the_best_is_the_best_finite_value(values: list[float]) -> None:
    curves = {"error": Curve.of(range(len(values)), values)}
    finite = [value for value in values if math.isfinite(value)]
    for metric, best in ((LOWER, min), (HIGHER, max)):
        measure = Objective(metric).measure(curves)
        if measure is None:
            assert not finite
        else:
            assert measure.value == best(finite)
            assert measure.step == values.index(measure.value)


@given(st.floats(), st.floats())
def test_better_is_a_strict_order_with_the_unusable_last(one: float, other: float) -> None:
    for metric in (LOWER, HIGHER):
        assert not (metric.is_better(one, other) and metric.is_better(other, one))
        if not math.isfinite(one):
            assert not metric.is_better(one, other)
        elif not math.isfinite(other):
            assert metric.is_better(one, other)
        else:
            assert metric.is_better(one, other) == (one < other if metric is LOWER else one > other)


def test_only_points_that_meet_the_constraints_count() -> None:
    curves = {
        "error": Curve.of([10, 20, 30, 40], [0.4, 0.1, 0.3, 0.2]),
        "latency": Curve.of([15, 25, 35], [50.0, 20.0, 30.0]),
    }
    # At 10 no latency is known, at 20 it is 50: the first allowed point is at 30.
    fast = Objective(LOWER, constraints=(Constraint("latency", at_most=30),))
    assert fast.measure(curves) == Measure(0.2, 40)
    slow = Objective(LOWER, constraints=(Constraint("latency", at_least=50),))
    assert slow.measure(curves) == Measure(0.1, 20)
    both = Objective(LOWER, constraints=fast.constraints + slow.constraints)
    assert both.measure(curves) is None
    assert fast.measure({"error": curves["error"]}) is None
    assert fast.measure({**curves, "latency": Curve.of([], [])}) is None


def test_what_is_not_a_number_meets_no_constraint() -> None:
    assert not Constraint("latency", at_most=30).holds(NAN)
    assert not Constraint("latency", at_least=30).holds(NAN)
    assert Constraint("latency", at_most=30).holds(30)
    assert Constraint("latency", at_least=30).holds(30)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Metric(""), "a metric needs a name, got ''"),
        (lambda: Metric("x", "up"), "better must be lower or higher, got 'up'"),
        (lambda: Constraint("ms"), "the constraint on ms needs either at_most or at_least"),
        (
            lambda: Constraint("ms", at_most=1, at_least=0),
            "the constraint on ms needs either at_most or at_least",
        ),
        (lambda: Constraint("ms", at_most=INF), "a value must be finite, got inf"),
        (lambda: Constraint("ms", at_least=NAN), "a value must be finite, got nan"),
        (
            lambda: Objective(LOWER, "first"),
            "reduction must be best, last or mean, got 'first'",
        ),
        (lambda: Objective(LOWER, "mean", 0), "the mean is over at least one point, got 0"),
    ],
)
def test_what_is_refused_and_how_it_is_said(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(StudyError) as caught:
        make()
    assert str(caught.value) == text
