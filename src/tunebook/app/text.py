"""Small pieces of text as people like to read them."""

from __future__ import annotations

import math

from tunebook.core.representation import one_line


def lines(text: str) -> str:
    r"""Text of several lines that a terminal shows as it is, with unsafe characters escaped.

    >>> lines("first\n\tred \x1b[31m")
    'first\n    red \\x1b[31m'
    """
    return "\n".join(one_line(line.expandtabs(4)) for line in text.split("\n"))


def shorten(text: str, most: int = 120) -> str:
    """The beginning of a text.

    >>> shorten("a very long reason", 9)
    'a very...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def duration(seconds: float | None) -> str:
    """A time in its two largest units.

    >>> duration(0.4), duration(75), duration(7300), duration(None)
    ('0.4 s', '1 min 15 s', '2 h 1 min', '-')
    """
    if seconds is None or not math.isfinite(seconds):
        return "-"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"
