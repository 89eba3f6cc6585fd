"""Places in ranges, and new ends for them."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from strategies import ranges
from tunebook.core.domains import Float, Int
from tunebook.diagnosis.ranges import Range, extended, place
from tunebook.stats.permutation import Side

SIDES: st.SearchStrategy[Side] = st.sampled_from(["low", "high"])


@given(ranges(), SIDES)
def test_an_extended_range_reaches_further_unless_it_stops_at_zero(
    domain: Range, side: Side
) -> None:
    value = float(extended(domain, side))
    assert math.isfinite(value)
    if side == "high":
        assert value >= domain.high or math.isclose(value, domain.high, rel_tol=1e-5)
    else:
        assert value <= domain.low or math.isclose(value, domain.low, rel_tol=1e-5)
    assert value >= 0 or domain.low < 0


def test_a_range_grows_by_a_third_of_itself_on_its_own_scale() -> None:
    assert extended(Float(1e-4, 1e-1, log=True), "high") == "1"
    assert extended(Float(1e-4, 1e-1, log=True), "low") == "1e-05"
    assert extended(Float(0.2, 0.5), "high") == "0.6"
    assert extended(Float(0.2, 0.5), "low") == "0.1"
    assert extended(Float(0.1, 0.7), "low") == "0"
    assert extended(Float(-3.0, 3.0), "low") == "-5"
    assert extended(Int(4, 10), "high") == "12"
    assert extended(Int(2, 4, log=True), "low") == "1"


def test_ends_are_said_as_written_and_places_with_two_digits() -> None:
    assert place(Float(0.00012345, 1, log=True), 0.0) == "0.00012345"
    assert place(Float(0, 1), 1 / 3) == "0.33"
    assert place(Int(1, 100_000), 1.0) == "100000"
