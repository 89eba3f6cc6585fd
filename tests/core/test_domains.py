"""Domains seen through the unit interval."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchable import units
from strategies import choices, ranges
from tunebook.core.domains import (
    Choice,
    Domain,
    Float,
    Int,
    Value,
    check_value,
    same_value,
)
from tunebook.core.errors import StudyError


@given(ranges() | choices, st.floats(0.0, 1.0))
def test_every_unit_gives_a_value_of_the_domain(domain: Domain, unit: float) -> None:
    value = domain.from_unit(unit)
    assert domain.contains(value)
    assert 0.0 <= domain.to_unit(value) <= 1.0


@given(ranges(), units)
def test_a_value_comes_back(domain: Float | Int, unit: float) -> None:
    value = domain.from_unit(unit)
    again = domain.from_unit(domain.to_unit(value))
    if isinstance(domain, Int):
        assert again == value
        assert domain.from_unit(domain.to_unit(float(value))) == value
    else:
        largest = max(abs(domain.low), abs(domain.high))
        assert again == pytest.approx(value, rel=1e-10, abs=0 if domain.log else 1e-10 * largest)


@given(choices)
def test_every_choice_comes_back(domain: Choice) -> None:
    assert [domain.from_unit(domain.to_unit(value)) for value in domain.values] == list(
        domain.values
    )


@given(ranges(), units, units)
def test_a_larger_unit_never_gives_a_smaller_value(
    domain: Float | Int, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert domain.from_unit(low) <= domain.from_unit(high)


@given(ranges())
def test_the_ends_of_the_unit_interval_are_the_bounds(domain: Float | Int) -> None:
    assert domain.from_unit(0.0) == pytest.approx(domain.low, rel=1e-11)
    assert domain.from_unit(1.0) == pytest.approx(domain.high, rel=1e-11)


def test_a_log_scale_halves_factors() -> None:
    assert Float(1e-4, 1e-2, log=True).from_unit(0.5) == 0.001
    assert Float(1e-4, 1e-2, log=True).to_unit(0.001) == pytest.approx(0.5)
    assert Int(1, 1023, log=True).from_unit(0.5) == 32


@pytest.mark.parametrize("log", [False, True])
def test_whole_numbers_share_the_interval(log: bool) -> None:
    domain = Int(1, 4, log=log)
    found = [domain.from_unit(step / 1000) for step in range(1000)]
    edges = [math.log(k, 5) for k in (2, 3, 4)] if log else [0.25, 0.5, 0.75]
    assert [found.index(k) / 1000 for k in (2, 3, 4)] == pytest.approx(edges, abs=0.001)


def test_bounds_may_be_as_far_apart_or_as_near_as_floats_are() -> None:
    assert Float(1e-300, 1e300, log=True).to_unit(1.0) == pytest.approx(0.5)
    near = math.nextafter(1e300, math.inf)
    assert 0.0 <= Float(1e300, near, log=True).to_unit(near) <= 1.0


def test_choices_tell_true_from_one() -> None:
    domain = Choice((True, 1, "1"))
    assert [domain.to_unit(value) for value in (True, 1, 1.0)] == [1 / 6, 0.5, 0.5]
    assert not Choice((1,)).contains(True)


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (Float(0.0, 1.0), [0, 1, 0.5, 1.0], [-0.1, 1.1, 10**400, True, "0.5", None]),
        (Int(1, 3), [1, 3, 2.0], [0, 4, 2.5, 10**400, True, "2", None]),
        (Choice(("a", None)), ["a", None], ["b", False, 0]),
    ],
)
def test_what_a_domain_contains(domain: Domain, inside: list[Value], outside: list[Value]) -> None:
    assert all(domain.contains(value) for value in inside)
    assert not any(domain.contains(value) for value in outside)
    for value in outside:
        with pytest.raises(StudyError, match=r"does not lie in|is not one of"):
            domain.to_unit(value)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Float(1, 1),
            "the lower bound must be below the upper one, got [1, 1]",
        ),
        (lambda: Float(2, 1), "the lower bound must be below the upper one, got [2, 1]"),
        (
            lambda: Float(0, 1, log=True),
            "a log scale needs a lower bound above 0, got [0, 1]",
        ),
        (lambda: Float(math.nan, 1), "a bound must be a finite number, got nan"),
        (lambda: Float(0, math.inf), "a bound must be a finite number, got inf"),
        (lambda: Float(False, 1), "a bound must be a finite number, got False"),
        (
            lambda: Float("0", 1),  # type: ignore[arg-type]
            "a bound must be a finite number, got '0'",
        ),
        (
            lambda: Int(1, 2.5),  # type: ignore[arg-type]
            "the bounds of whole numbers must be whole, got 2.5",
        ),
        (lambda: Int(True, 2), "the bounds of whole numbers must be whole, got True"),
        (
            lambda: Float(0, 1, limit="left"),  # type: ignore[arg-type]
            "limit must be low, high or both, got 'left'",
        ),
        (lambda: Choice(()), "a choice needs at least one value, got none"),
        (lambda: Choice(("a", "a")), "a choice must not repeat a value, got ['a', 'a']"),
        (lambda: Choice((1, 1.0)), "a choice must not repeat a value, got [1, 1.0]"),
        (
            lambda: Choice(((1, 2),)),  # type: ignore[arg-type]
            "a value must be a number, text, true, false or null, got (1, 2); "
            "write lists as text and take them apart in the program",
        ),
        (lambda: Choice((math.inf,)), "a value must be finite, got inf"),
        (lambda: Float(0, 1).to_unit(2), "2 does not lie in 0 to 1"),
        (lambda: Choice(("a",)).to_unit("b"), "'b' is not one of ['a']"),
    ],
)
def test_what_is_refused_and_how_it_is_said(make: object, text: str) -> None:
    with pytest.raises(StudyError) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value) == text


@pytest.mark.parametrize("side", [10**400, -(10**400)])
def test_a_bound_beyond_the_floats_is_refused(side: int) -> None:
    for domain in (Float, Int):
        with pytest.raises(StudyError, match="a bound must be a finite number"):
            domain(min(side, 0), max(side, 0))


def test_bounds_become_floats() -> None:
    assert Float(0, 1) == Float(0.0, 1.0)
    assert isinstance(Float(0, 1).low, float)


def test_domains_as_text() -> None:
    assert str(Float(1e-4, 0.1, log=True)) == "0.0001 to 0.1 (log)"
    assert str(Float(0, 0.5)) == "0 to 0.5"
    assert str(Int(1, 64, log=True)) == "1 to 64, whole (log)"
    assert str(Choice(("relu", 2))) == "one of 'relu', 2"


def test_same_value() -> None:
    assert same_value(1, 1.0)
    assert same_value(None, None)
    assert not same_value(False, 0)
    assert not same_value("1", 1)


@pytest.mark.parametrize("value", [None, True, 3, 0.5, "text"])
def test_plain_values_pass(value: Value) -> None:
    check_value(value)
