"""Packed arrays come back bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tunebook.core.errors import StoreError
from tunebook.storage.chunks import (
    pack_floats,
    pack_ints,
    pack_seconds,
    unpack_floats,
    unpack_ints,
    unpack_seconds,
)

SIZES = st.integers(0, 300)
# Any 64 bits are some float64: every NaN, both infinities, both zeros and the subnormals.
ANY_BITS = arrays(np.uint64, SIZES)
FEW_VALUES = st.builds(
    lambda n, size: np.random.default_rng(n).integers(0, 20, size) / 20, st.integers(0, 99), SIZES
)


@given(ANY_BITS)
def test_any_float_comes_back(bits: np.ndarray) -> None:
    values = bits.view(np.float64)
    assert unpack_floats(pack_floats(values), len(values)).tobytes() == values.tobytes()


@given(FEW_VALUES)
def test_values_that_repeat_come_back(values: np.ndarray) -> None:
    assert unpack_floats(pack_floats(values), len(values)).tobytes() == values.tobytes()


@pytest.mark.parametrize("size", [0, 1, 2, 1000])
def test_special_values_come_back(size: int) -> None:
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.8e308]
    values = np.resize(np.array(special), size)
    assert unpack_floats(pack_floats(values), size).tobytes() == values.tobytes()


@given(arrays(np.int64, SIZES))
def test_any_whole_number_comes_back(values: np.ndarray) -> None:
    read = unpack_ints(pack_ints(values), len(values))
    assert read.dtype == np.int64
    assert np.array_equal(read, values)


@given(st.lists(st.floats(0, 1e9), max_size=50))
def test_seconds_come_back_to_the_millisecond(seconds: list[float]) -> None:
    times = np.array(seconds)
    once = unpack_seconds(pack_seconds(times), len(times))
    assert np.all(np.abs(once - times) <= 0.000501)
    assert np.array_equal(unpack_seconds(pack_seconds(once), len(once)), once)


def test_a_column_of_a_matrix_is_packed_like_its_copy() -> None:
    values = np.arange(12.0).reshape(4, 3)
    assert pack_floats(values[:, 1]) == pack_floats(values[:, 1].copy())


def test_noise_takes_one_byte_more_than_itself() -> None:
    bits = np.random.default_rng(0).integers(0, 2**63, 1000, dtype=np.uint64)
    assert len(pack_floats(bits.view(np.float64))) == 8001


def test_what_is_regular_takes_next_to_nothing() -> None:
    assert len(pack_ints(np.arange(10, 10_010, 10))) < 100
    assert len(pack_seconds(np.arange(1000) * 0.25)) < 100


def test_values_from_single_precision_take_half() -> None:
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32).astype(np.float64)
    assert len(pack_floats(values)) < 4300


def test_error_rates_take_less_than_half() -> None:
    values = np.random.default_rng(0).integers(0, 200, 1000) / 1000
    assert len(pack_floats(values)) < 2800


@pytest.mark.parametrize(
    ("packed", "count"),
    [
        (b"", 3),
        (b"\x00" + bytes(23), 3),
        (b"\x01no zlib", 3),
        (pack_ints(np.arange(100)), 99),
        (pack_ints(np.arange(100))[:-1], 100),
    ],
)
def test_damage_is_told(packed: bytes, count: int) -> None:
    with pytest.raises(StoreError) as refusal:
        unpack_ints(packed, count)
    assert str(refusal.value) == (
        f"stored points are damaged ({len(packed)} bytes do not hold {count} numbers)"
    )
