"""Constants that a source spells out."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.app.constants import constant, constant_in
from tunebook.core.domains import Value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2**5", 32),
        ("4 * 64", 256),
        ("(4*64)", 256),
        ("1 << 10", 1024),
        ("60 * 60 // 2 % 1000", 800),
        ("3e-4 / 2", 1.5e-4),
        ("-(1 + 2)", -3),
        ("+1", 1),
        ("'adam'", "adam"),
        ("True", True),
        ("None", None),
        ("-True", None),
        ("'a' * 3", None),
        ("[1] * 3", None),
        ("size", None),
        ("2 * size", None),
        ("f(2)", None),
        ("1 / 0", None),
        ("1e999", None),
        ("1e300 * 1e300", None),
        ("(-1) ** 0.5", None),
        ("1 << -1", None),
        ("9 ** 9 ** 9 ** 9", None),
        ("1 << 10 ** 12", None),
        ("10 ** 30", None),
        ("16GB", None),
        ("128,64", None),
        ("(" * 300, None),
        ("\0", None),
        ("", None),
    ],
)
def test_what_a_text_spells_out(text: str, value: Value) -> None:
    found = constant_in(text)
    assert (found, type(found)) == (value, type(value))


def test_nothing_is_no_constant() -> None:
    assert constant(None) is None


@given(st.integers(-(2**31), 2**31), st.sampled_from("+-*"), st.integers(-(2**31), 2**31))
def test_arithmetic_is_that_of_python(left: int, sign: str, right: int) -> None:
    text = f"({left}) {sign} ({right})"
    assert constant_in(text) == eval(compile(ast.parse(text, mode="eval"), "", "eval"))
