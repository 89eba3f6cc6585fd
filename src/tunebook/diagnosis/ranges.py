"""Ranges in words: a place in one, and where to extend it, as numbers that one would write."""

from __future__ import annotations

import math
import sys
from typing import TypeAlias

from tunebook.core.domains import Float, Int
from tunebook.stats.permutation import Side

Range: TypeAlias = Float | Int

# How far to extend a range, in units of itself on its own scale: a decade for three of them.
EXTENSION = 1 / 3
_LARGEST = sys.float_info.max
_LARGEST_LOG = math.log(_LARGEST)


def place(domain: Range, unit: float) -> str:
    """A coordinate of the unit interval as a value; two digits say where in a range one is.

    >>> place(Float(1e-4, 1e-1, log=True), 0.25), place(Int(1000, 20000), 1.0)
    ('0.00056', '20000')
    """
    if isinstance(domain, Int):
        return str(domain.from_unit(unit))
    # An end is said as it was written.
    return f"{domain.from_unit(unit):{'g' if unit in (0.0, 1.0) else '.2g'}}"


def extended(domain: Range, side: Side) -> str:
    """The new end of a range, on its own scale.

    >>> extended(Float(1e-4, 1e-1, log=True), "low"), extended(Float(0.1, 0.5), "high")
    ('1e-05', '0.7')
    >>> extended(Int(2, 8), "low"), extended(Int(16, 127, log=True), "high")
    ('0', '254')
    """
    value = _beyond(domain, side)
    if isinstance(domain, Int):
        whole = math.floor(value + 1e-9) if side == "low" else math.ceil(value - 1e-9)
        least = 1 if domain.log else (0 if domain.low >= 0 else whole)
        return str(max(whole, least))
    # A range above zero stays there: below zero most parameters mean something else.
    return f"{_rounded(max(value, 0.0) if domain.low >= 0 else value, side):g}"


def _beyond(domain: Range, side: Side) -> float:
    """Past the end by its share of the range, however large the numbers are."""
    sign = -1.0 if side == "low" else 1.0
    end = float(domain.low if side == "low" else domain.high)
    if domain.log:
        span = math.log(domain.high) - math.log(domain.low)
        return math.exp(min(math.log(end) + sign * EXTENSION * span, _LARGEST_LOG))
    step = EXTENSION * domain.high - EXTENSION * domain.low
    return min(max(end + sign * step, -_LARGEST), _LARGEST)


def _rounded(value: float, side: Side) -> float:
    """The next number outwards with one digit, where there is one."""
    if value == 0.0:
        return value
    unit = 10.0 ** math.floor(math.log10(abs(value)) + 1e-9)
    if unit == 0.0:
        return value
    steps = value / unit
    rounded = (math.floor(steps + 1e-6) if side == "low" else math.ceil(steps - 1e-6)) * unit
    return rounded if math.isfinite(rounded) else value
