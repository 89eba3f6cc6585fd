"""Small pieces of text: numbers, durations and names as people like to read them."""

from __future__ import annotations

import math
import re

from tunebook.core.domains import Value
from tunebook.core.space import Config

# Control characters could move the cursor or change colours; bidirectional marks reorder the line.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")


def safe(text: str) -> str:
    """Text that a terminal shows as it is, with unsafe characters escaped.

    >>> safe("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def number(value: float | None) -> str:
    """Four significant digits.

    >>> number(0.0312345), number(None), number(float("nan"))
    ('0.03123', '-', 'nan')
    """
    return "-" if value is None else f"{value:.4g}"


def value(given: Value) -> str:
    """A parameter's value."""
    if isinstance(given, float):
        return f"{given:.4g}"
    if isinstance(given, bool):
        return "true" if given else "false"
    return "null" if given is None else safe(str(given))


def config(given: Config) -> str:
    """A configuration in one line."""
    return ", ".join(f"{name}={value(item)}" for name, item in given.items())


def duration(seconds: float | None) -> str:
    """A time in its two largest units.

    >>> duration(0.4), duration(75), duration(7300), duration(None)
    ('0.4 s', '1 min 15 s', '2 h 1 min', '-')
    """
    if seconds is None or not math.isfinite(seconds):
        return "-"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"
