"""Numbers of times, rates and memory as words."""

from __future__ import annotations

import math

import pytest

from tunebook.procedures.batch_size.throughput_words import (
    bytes_text,
    interval_text,
    rate_text,
    seconds_text,
    size_text,
)
from tunebook.stats.samples import Interval


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.821, "821 ms"),
        (0.00125, "1.2 ms"),
        (75.0, "75 s"),
        (9.96e-5, "100 µs"),
        (300.0, "5 min"),
    ],
)
def test_seconds(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_memory_and_rates() -> None:
    assert bytes_text(313 * 2**20) == "313 MB"
    assert bytes_text(2000 * 2**30) == "2,000 GB"
    assert bytes_text(512 * 1024) == "510 kB"
    assert rate_text(96_512.0) == "96,500"
    assert rate_text(math.inf) == "inf"


def test_sizes_and_open_intervals() -> None:
    assert size_text(1234.4) == "1,230"
    assert size_text(3.14159) == "3.1"
    assert interval_text(Interval(100, 50, 200)) == "50 to 200"
    assert interval_text(Interval(100, 0.0, math.inf)) == "open on both sides"
