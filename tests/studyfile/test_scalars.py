"""Numbers and words of YAML 1.2."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.studyfile.scalars import looks_like_a_number, read_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1e-3", 0.001), ("1E3", 1000.0), ("1.", 1.0), (".5", 0.5), (".5e3", 500.0)),
        *(("-.5e-3", -0.0005), ("+1.5", 1.5), ("1_000", 1000), ("1_000.5", 1000.5)),
        *(("-12", -12), ("+12", 12), ("012", 12), ("0o17", 15), ("-0x1F", -31), ("0b101", 5)),
        *(("-.inf", -math.inf), (".Inf", math.inf), ("1e999", math.inf)),
        *(("true", True), ("FALSE", False), ("null", None), ("~", None), ("", None)),
        *(("no", "no"), ("yes", "yes"), ("on", "on"), ("y", "y"), ("2001-01-01", "2001-01-01")),
        *(("1:30", "1:30"), ("-_", "-_"), ("._", "._"), ("0x", "0x"), ("<<", "<<"), ("inf", "inf")),
    ],
)
def test_plain_text(text: str, value: object) -> None:
    found = read_scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_one() -> None:
    assert math.isnan(float(str(read_scalar(".nan"))))


@pytest.mark.parametrize("text", ["1", "1e-3", "true", "null", "", ".nan"])
def test_quoted_text_stays_text(text: str) -> None:
    assert read_scalar(text, plain=False) == text


def test_a_number_too_long_to_mean_anything_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a number may have 300 digits, got 1000000$"):
        read_scalar("9" * 10**6)
    with pytest.raises(ValueError, match=r"^a number must fit a float, got '0xfff"):
        read_scalar("0x" + "f" * 290)


@given(st.floats(allow_nan=False))
def test_every_float_is_read(number: float) -> None:
    assert read_scalar(repr(number).replace("inf", ".inf")) == number


@given(st.text(max_size=10))
def test_only_what_looks_like_a_number_is_read_as_one(text: str) -> None:
    value = read_scalar(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        assert looks_like_a_number(text)
