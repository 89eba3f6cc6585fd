"""Times, rates and amounts of memory as a tuner says them."""

from __future__ import annotations

import math

from tunebook.core.representation import number
from tunebook.stats.samples import Interval


def seconds_text(seconds: float) -> str:
    """A duration in a unit that suits it.

    >>> seconds_text(2.5e-5), seconds_text(0.0123), seconds_text(1.5), seconds_text(7200)
    ('25 µs', '12 ms', '1.5 s', '2 h')
    """
    if seconds <= 0.0:
        return "0 s"
    for scale, unit, most in (
        (1e-6, "µs", 1000),
        (1e-3, "ms", 1000),
        (1, "s", 100),
        (60, "min", 90),
    ):
        value = seconds / scale
        if value < most:
            return f"{value:.0f} {unit}" if value >= 99.5 else f"{float(f'{value:.2g}'):g} {unit}"
    return f"{number(round(seconds / 3600, 1))} h"


def bytes_text(amount: float) -> str:
    """An amount of memory.

    >>> bytes_text(3 * 2**20), bytes_text(2.5 * 2**30), bytes_text(1500)
    ('3 MB', '2.5 GB', '1.5 kB')
    """
    for scale, unit in ((2**30, "GB"), (2**20, "MB")):
        if abs(amount) >= scale:
            return (
                f"{amount / scale:.3g} {unit}"
                if amount / scale < 1000
                else (f"{amount / scale:,.0f} {unit}")
            )
    return f"{float(f'{amount / 1024:.2g}'):g} kB"


def rate_text(per_second: float) -> str:
    """Examples in a second.

    >>> rate_text(12345.6), rate_text(3.21)
    ('12,300', '3.2')
    """
    if not 0.0 < per_second < math.inf:
        return number(per_second)
    digits = max(2 - math.floor(math.log10(per_second)), -12)
    rounded = round(per_second, digits)
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.2g}"


def size_text(size: float) -> str:
    """A batch size, in three digits where it is an estimate.

    >>> size_text(128.0), size_text(1234.5), size_text(math.inf)
    ('128', '1,230', 'any')
    """
    if math.isinf(size):
        return "any"
    if size == round(size) and size < 2**24:
        return f"{size:,.0f}"
    if size < 10:
        return f"{size:.2g}"
    return f"{float(f'{size:.3g}'):,.0f}"


def interval_text(interval: Interval) -> str:
    """An interval of sizes, open where the data leave it so.

    >>> interval_text(Interval(100, 50.0, math.inf)), interval_text(Interval(100, 0.0, 200.0))
    ('above 50', 'below 200')
    """
    if interval.low <= 0.0 and math.isinf(interval.high):
        return "open on both sides"
    if math.isinf(interval.high):
        return f"above {size_text(interval.low)}"
    if interval.low <= 0.0:
        return f"below {size_text(interval.high)}"
    return f"{size_text(interval.low)} to {size_text(interval.high)}"
