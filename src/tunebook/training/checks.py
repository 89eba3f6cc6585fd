"""What the value of a parameter must be, in words and as a function that reads it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from tunebook.core.errors import StudyError, did_you_mean


@dataclass(frozen=True, slots=True)
class Check:
    """A condition on a value: `read` gives the value with its type, or None if it fails.

    `known` holds the names a value can have, for a suggestion.

    >>> whole(least=1)("batch_size", 128.0)
    128
    """

    wanted: str
    read: Callable[[Any], Any]
    known: Collection[str] = ()

    def __call__(self, name: str, value: object) -> Any:
        """The value of the named parameter, or an error that says what it must be."""
        found = self.read(value)
        if found is None:
            near = did_you_mean(value, self.known) if isinstance(value, str) else ""
            raise StudyError(f"{name} must be {self.wanted}, got {value!r}{near}", name)
        return found


def whole(least: int) -> Check:
    """A whole number, which may be written as 128.0."""

    def read(value: object) -> int | None:
        number = _number(value)
        return int(number) if number.is_integer() and number >= least else None

    return Check(f"a whole number of at least {least}", read)


def one_of(names: Collection[str]) -> Check:
    *others, last = names
    wanted = f"{', '.join(others)} or {last}"

    def read(value: object) -> str | None:
        return value if isinstance(value, str) and value in names else None

    return Check(wanted, read, names)


def _real(wanted: str, allowed: Callable[[float], bool]) -> Check:
    def read(value: object) -> float | None:
        number = _number(value)
        return number if allowed(number) else None

    return Check(wanted, read)


def _number(value: object) -> float:
    """A finite number; for anything else NaN, which no comparison accepts."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:
        return math.nan


ABOVE_0 = _real("a number above 0", lambda number: number > 0)
AT_LEAST_0 = _real("a number of at least 0", lambda number: number >= 0)
FROM_0_TO_1 = _real("a number from 0 to 1", lambda number: 0 <= number <= 1)
BELOW_1 = _real("a number from 0 up to 1, without 1", lambda number: 0 <= number < 1)
SWITCH = Check("true or false", lambda value: value if isinstance(value, bool) else None)
