"""Readings: what a program logs, as plain numbers, or an error that says what is wrong with it."""

from __future__ import annotations

import reprlib

from tunebook.core.domains import Value
from tunebook.core.errors import UnknownName, did_you_mean
from tunebook.core.space import Config

# Steps are stored as 64-bit numbers.
LARGEST_STEP = 2**63 - 1


def number(value: object) -> float | None:
    """A value as a float, or None; tensors and arrays of one element count as numbers.

    >>> number(3), number("3"), number(3j)
    (3.0, None, None)
    """
    try:
        plain = value if isinstance(value, float | int) else _plain(value)
        return float(plain) if hasattr(plain, "__float__") else None
    except (TypeError, ValueError, OverflowError):
        return None


def metric_value(name: str, value: object) -> float:
    """A metric's value as a float."""
    reading = number(value)
    if reading is None:
        kind = type(value).__name__
        raise TypeError(f"the metric {name!r} must be a number, got {shown(value)} ({kind})")
    return reading


def parameter(params: Config, name: str) -> Value:
    """A trial's parameter by name; of a name it does not have, the nearest is offered."""
    try:
        return params[name]
    except KeyError:
        near = did_you_mean(name, params)
        raise UnknownName(f"this trial has no parameter {name!r}{near}") from None


def check_name(name: object) -> None:
    """A metric's name is a text that is not empty."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"a metric's name must be text, got {shown(name)}")


def whole_step(step: object) -> int:
    """A step as an int."""
    reading = number(step)
    whole = int(_plain(step)) if reading is not None and reading.is_integer() else -1  # type: ignore[call-overload]
    if not 0 <= whole <= LARGEST_STEP:
        raise ValueError(f"a step must be a whole number from 0 on, got {shown(step)}")
    return int(whole)


def shown(value: object) -> str:
    """A value as an error shows it: short, and without an error of its own."""
    try:
        return f"{reprlib.repr(value):.60}"
    except ValueError:
        # Python refuses to write an integer of more than 4300 digits.
        return "a very long number"


def _plain(value: object) -> object:
    """What is in an array or a tensor of one element."""
    if not hasattr(value, "item"):
        return value
    try:
        return value.item()
    except RuntimeError as error:
        # So torch says that there are several elements. Another error is not ours to hide: it may
        # be the accelerator's, which speaks up only when a value is asked for.
        if "cannot be converted to Scalar" in str(error):
            return None
        raise
