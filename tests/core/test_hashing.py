"""Numbers from names: golden values, so that a change of them cannot go unnoticed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.hashing import derive_seed, derive_unit, digest, permutation

parts = st.lists(st.integers() | st.text(alphabet="abc.", max_size=3), max_size=3)


def test_golden_values() -> None:
    assert digest(0, "learning_rate", 1).hex()[:16] == "2bc4c4ed70820a70"
    assert derive_seed(0, "trial", 0) == 1838733386
    assert derive_unit(0, "random", "learning_rate", 0) == 0.10959989724569796
    assert permutation(7, 0, "learning_rate", 0) == (0, 3, 4, 2, 6, 1, 5)


def test_parts_do_not_run_together() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a", "b") != digest("b", "a")
    assert digest("a") != digest("a", "")
    assert digest(1) == digest("1")


@given(parts)
def test_seeds_and_units_lie_in_their_ranges(given: list[object]) -> None:
    assert 0 <= derive_seed(*given) < 2**31
    assert 0.0 <= derive_unit(*given) < 1.0
    assert derive_unit(*given) * 2**53 == int(derive_unit(*given) * 2**53)


@given(st.integers(0, 300), parts)
def test_a_permutation_holds_every_number_once(size: int, given: list[object]) -> None:
    assert sorted(permutation(size, *given)) == list(range(size))
    assert permutation(size, *given) == permutation(size, *given)


def test_every_order_is_about_as_likely() -> None:
    counts = Counter(permutation(3, "fair", number) for number in range(6000))
    assert len(counts) == 6
    # Five standard deviations of a count with mean 1000.
    assert all(abs(count - 1000) < 5 * 29 for count in counts.values())


def test_units_are_spread_evenly() -> None:
    tenths = Counter(int(derive_unit("even", number) * 10) for number in range(10_000))
    assert all(abs(tenths[tenth] - 1000) < 5 * 30 for tenth in range(10))
