"""Sizes of memory and whole numbers, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tunebook.studyfile.contents import Memory, Whole, memory_text

memory: TypeAdapter[int] = TypeAdapter(Memory)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("1KB", 1024), ("4GB", 4 * 2**30), ("4GiB", 4 * 2**30), ("1.5 GB", 3 * 2**29)),
        *(("2TB", 2**41), ("512MB", 2**29), (4096, 4096)),
    ],
)
def test_memory_is_counted_in_powers_of_1024(text: object, size: int) -> None:
    assert memory.validate_python(text) == size


@pytest.mark.parametrize("text", ["4", "4gb", "GB", "-4GB", "4GB ", "1e3GB", True, 4.5, None, []])
def test_other_sizes_are_refused(text: object) -> None:
    with pytest.raises(ValidationError, match="expected a size such as 4GB or a number of bytes"):
        memory.validate_python(text)


@given(st.integers(0, 2**60))
def test_a_size_is_written_as_it_is_read(size: int) -> None:
    assert memory.validate_python(memory_text(size)) == size


def test_whole_numbers_may_be_written_with_an_exponent() -> None:
    whole = TypeAdapter(Whole).validate_python(1e5)
    assert whole == 100_000
    assert isinstance(whole, int)
