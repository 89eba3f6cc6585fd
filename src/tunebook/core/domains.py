"""Where a parameter's value may lie, seen through the unit interval.

Samplers, boundary checks and plots all work in [0, 1]; only a domain knows its own scale.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tunebook.core.errors import StudyError

Value: TypeAlias = bool | int | float | str | None
Limit: TypeAlias = Literal["low", "high", "both"] | None

_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Float:
    """Real numbers from `low` to `high`, evenly spread on a linear or a log scale.

    `limit` names a side that must never be expanded, such as dropout at zero.

    >>> Float(1e-4, 1e-2, log=True).from_unit(0.5)
    0.001
    >>> Float(0.0, 0.5, limit="low").to_unit(0.25)
    0.5
    """

    low: float
    high: float
    log: bool = False
    limit: Limit = None

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.log)
        _check_limit(self.limit)
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))

    def from_unit(self, unit: float) -> float:
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            value = math.exp(low + unit * (high - low))
        else:
            value = self.low * (1 - unit) + self.high * unit
        # Twelve digits: enough for any parameter, and 0.001 does not become 0.0010000000000000002.
        return min(max(float(f"{value:.12g}"), self.low), self.high)

    def to_unit(self, value: Value) -> float:
        number = _number(value, self)
        if self.log:
            # No quotient of the bounds: 1e300 / 1e-300 is infinite.
            low = math.log(self.low)
            above, span = math.log(number) - low, math.log(self.high) - low
        else:
            above, span = number - self.low, self.high - self.low
        # Neighbouring floats may have one logarithm.
        return min(max(above / span, 0.0), 1.0) if span else 0.0

    def contains(self, value: Value) -> bool:
        return _is_number(value) and self.low <= value <= self.high  # type: ignore[operator]

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}{' (log)' if self.log else ''}"


@dataclass(frozen=True, slots=True)
class Int:
    """Whole numbers from `low` to `high`, both included; each gets its share of the unit interval.

    >>> [Int(1, 4).from_unit(u) for u in (0.0, 0.3, 0.99, 1.0)]
    [1, 2, 4, 4]
    """

    low: int
    high: int
    log: bool = False
    limit: Limit = None

    def __post_init__(self) -> None:
        for side in (self.low, self.high):
            if not isinstance(side, int) or isinstance(side, bool):
                raise StudyError(f"the bounds of whole numbers must be whole, got {side!r}")
        _check_bounds(self.low, self.high, self.log)
        _check_limit(self.limit)

    def from_unit(self, unit: float) -> int:
        if self.log:
            low, high = math.log(self.low), math.log(self.high + 1)
            value = math.floor(math.exp(low + unit * (high - low)))
        else:
            value = self.low + math.floor(unit * (self.high - self.low + 1))
        return min(max(value, self.low), self.high)

    def to_unit(self, value: Value) -> float:
        """The middle of the value's own share, so that `from_unit` gives the value back."""
        number = _number(value, self)
        if self.log:
            middle = math.log(number * (number + 1)) / 2
            return (middle - math.log(self.low)) / math.log((self.high + 1) / self.low)
        return (number - self.low + 0.5) / (self.high - self.low + 1)

    def contains(self, value: Value) -> bool:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return _is_number(value) and whole and self.low <= value <= self.high  # type: ignore[operator]

    def __str__(self) -> str:
        return f"{self.low} to {self.high}, whole{' (log)' if self.log else ''}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few values, in a given order.

    >>> Choice(("relu", "gelu")).from_unit(0.7)
    'gelu'
    """

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise StudyError("a choice needs at least one value, got none")
        for value in self.values:
            check_value(value)
        # True == 1 in Python, but they are two values to a training program; 1 and 1.0 are one.
        if len({(isinstance(value, bool), value) for value in self.values}) != len(self.values):
            raise StudyError(f"a choice must not repeat a value, got {list(self.values)!r}")

    def from_unit(self, unit: float) -> Value:
        return self.values[min(int(unit * len(self.values)), len(self.values) - 1)]

    def to_unit(self, value: Value) -> float:
        if not self.contains(value):
            raise StudyError(f"{value!r} is not one of {list(self.values)!r}")
        return (self._index(value) + 0.5) / len(self.values)

    def contains(self, value: Value) -> bool:
        return any(same_value(value, known) for known in self.values)

    def _index(self, value: Value) -> int:
        return next(i for i, known in enumerate(self.values) if same_value(value, known))

    def __str__(self) -> str:
        return "one of " + ", ".join(map(repr, self.values))


Domain: TypeAlias = Float | Int | Choice


def place(domain: Domain, value: Value) -> float:
    """Where a value lies in the unit interval, for trials that another tool may have chosen.

    A number beyond the range lies at its end; what is no value of the domain lies nowhere: NaN.

    >>> place(Float(0.0, 0.5), 0.75), place(Choice(("relu", "gelu")), "tanh")
    (1.0, nan)
    """
    if isinstance(domain, Choice):
        return domain.to_unit(value) if domain.contains(value) else math.nan
    if not _is_number(value) or math.isnan(value):  # type: ignore[arg-type]
        return math.nan
    within = min(max(value, domain.low), domain.high)  # type: ignore[type-var]
    return domain.to_unit(round(within) if isinstance(domain, Int) else within)  # type: ignore[arg-type]


def same_value(one: Value, other: Value) -> bool:
    """Equality that keeps True apart from 1, but not 1 from 1.0 (YAML writers mix those).

    >>> same_value(1, 1.0), same_value(True, 1)
    (True, False)
    """
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def check_value(value: object) -> None:
    """A parameter's value is a finite number, a text, true, false or null."""
    if not isinstance(value, bool | int | float | str | None):
        raise StudyError(
            f"a value must be a number, text, true, false or null, got {value!r}; "
            "write lists as text and take them apart in the program"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise StudyError(f"a value must be finite, got {value!r}")


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Value, domain: Float | Int) -> float:
    if not domain.contains(value):
        raise StudyError(f"{value!r} does not lie in {domain}")
    return float(value)  # type: ignore[arg-type]


def _check_bounds(low: float, high: float, log: bool) -> None:
    for side in (low, high):
        if not _is_number(side) or not abs(side) <= _LARGEST:
            raise StudyError(f"a bound must be a finite number, got {side!r}")
    if low >= high:
        raise StudyError(f"the lower bound must be below the upper one, got [{low:g}, {high:g}]")
    if log and low <= 0:
        raise StudyError(f"a log scale needs a lower bound above 0, got [{low:g}, {high:g}]")


def _check_limit(limit: object) -> None:
    if limit not in ("low", "high", "both", None):
        raise StudyError(f"limit must be low, high or both, got {limit!r}")
