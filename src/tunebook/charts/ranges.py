"""Axes of parameters and of values: their scales, and ends that one outlier does not set."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tunebook.charts.figures import Axis, Rule
from tunebook.core.curves import Floats
from tunebook.core.domains import Choice, Domain, Float, Int, Value, same_value
from tunebook.core.representation import one_line, value_text
from tunebook.core.space import Derived, Fixed, Parameter

# Beyond so many times the median, positive values need a log axis to be seen together.
_LOG_FROM = 30.0
# Further out than so many times the span of the middle 98%, values do not set an axis' end.
_FAR = 3.0
_ROOM = 0.04
# What is larger has no place on any axis.
LARGEST = 1e300


def value_axis(label: str, values: ArrayLike) -> Axis:
    """An axis for results or logged values, finite or not.

    It is logarithmic where positive values have a long upper tail, and cut where a few values lie
    far away from all others.

    >>> value_axis("loss", [0.1, 0.2, 50.0]).scale
    'log'
    >>> value_axis("gain", [*np.linspace(-1, 1, 200), 1e9]).high < 2
    True
    """
    given = np.asarray(values, dtype=np.float64).ravel()
    finite = given[np.abs(given) <= LARGEST]
    if not len(finite):
        return Axis(label)
    least, low, middle, high, most = np.quantile(finite, [0, 0.01, 0.5, 0.99, 1])
    if least > 0 and most / _LOG_FROM > middle:
        return Axis(label, "log")
    span = high / 2 - low / 2
    cut_low = span > 0 and least / 2 < low / 2 - _FAR * span
    cut_high = span > 0 and most / 2 > high / 2 + _FAR * span
    return Axis(
        label,
        low=float(low - 0.2 * span) if cut_low else None,
        high=float(high + 0.2 * span) if cut_high else None,
    )


def widened(axis: Axis, inside: ArrayLike, beyond: ArrayLike) -> Axis:
    """The axis of values, made longer for others, but by no more than half of its length.

    >>> widened(Axis("loss"), [1.0, 2.0], [1.5, 1e30]).high
    2.5
    """
    values, others = (_places(axis, array) for array in (inside, beyond))
    if not len(values) or not len(others) or axis.low is not None or axis.high is not None:
        return axis
    low, high = float(values.min()), float(values.max())
    room = (high - low) / 2 or max(abs(high), 1.0) / 2
    ends = max(low - room, min(low, others.min())), min(high + room, max(high, others.max()))
    inner = ends[0] if ends[0] == low - room else None, ends[1] if ends[1] == high + room else None
    given = [None if end is None else _value(axis, end) for end in inner]
    return replace(axis, low=given[0], high=given[1])


def domain_of(parameter: Parameter) -> Domain | None:
    """Where a searched parameter may lie; None for one that has a value."""
    return None if isinstance(parameter.source, Fixed | Derived) else parameter.source


def parameter_axis(parameter: Parameter) -> Axis:
    """The axis of a searched parameter: its own scale, and a little room beyond its bounds."""
    domain, label = domain_of(parameter), one_line(parameter.name)
    match domain:
        case Choice():
            return Axis(label, "category", categories=tuple(map(value_text, domain.values)))
        case Float() | Int():
            low, high = _with_room(float(domain.low), float(domain.high), domain.log)
            return Axis(label, "log" if domain.log else "linear", low, high)
        case _:
            return Axis(label)


def bounds(parameter: Parameter) -> tuple[Rule, ...]:
    """The ends of a range as rules; a choice has none."""
    domain = domain_of(parameter)
    if not isinstance(domain, Float | Int):
        return ()
    return Rule(float(domain.low), "x"), Rule(float(domain.high), "x")


def position(parameter: Parameter, value: Value) -> float:
    """Where a value lies on the parameter's axis; NaN for one that has no place there."""
    domain = domain_of(parameter)
    if isinstance(domain, Choice):
        places = [i for i, known in enumerate(domain.values) if same_value(value, known)]
        return float(places[0]) if places else math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return math.nan


def unit(parameter: Parameter, value: Value) -> float:
    """Where a value lies in its domain, from 0 to 1; NaN for one that lies outside."""
    domain = domain_of(parameter)
    if domain is None or not domain.contains(value):
        return math.nan
    return domain.to_unit(value)


def unit_of(axis: Axis, values: Floats) -> Floats:
    """Places of values between the least and the largest of them, on the axis' scale."""
    places = np.log10(values) if axis.scale == "log" else values / 2
    finite = places[np.isfinite(places)]
    if not len(finite):
        return np.full(len(values), np.nan)
    low = finite.min() if axis.low is None else axis.low / 2
    high = finite.max() if axis.high is None else axis.high / 2
    return np.clip((places - low) / (high - low), 0, 1) if high > low else places * 0 + 0.5


def _places(axis: Axis, values: ArrayLike) -> Floats:
    """Finite values as the axis' scale sees them, small enough to be doubled."""
    given = np.asarray(values, dtype=np.float64).ravel()
    usable = given[np.abs(given) <= LARGEST]
    return np.log10(usable[usable > 0]) if axis.scale == "log" else usable


def _value(axis: Axis, place: float) -> float:
    return _power(place) if axis.scale == "log" else min(max(place, -LARGEST), LARGEST)


def _with_room(low: float, high: float, log: bool) -> tuple[float, float]:
    if log:
        room = _ROOM * (math.log10(high) - math.log10(low))
        return _power(math.log10(low) - room), _power(math.log10(high) + room)
    room = 2 * _ROOM * (high / 2 - low / 2)
    return max(low - room, -LARGEST), min(high + room, LARGEST)


def _power(exponent: float) -> float:
    """Ten to the power, kept within what an axis can hold."""
    return float(10 ** min(max(exponent, -300.0), 300.0))
