"""Derived values: what arithmetic gives, and everything else refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.expressions import evaluate, names_in

leaves = st.sampled_from(["q", "y.z", "2", "0.5"])
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda one: f"-{one}"),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
    ),
    max_leaves=8,
)


@given(expressions, st.floats(-10, 10), st.integers(-10, 10))
def test_arithmetic_is_that_of_python(expression: str, q: float, z: int) -> None:
    expected = eval(expression.replace("y.z", "z"), {"q": q, "z": z, "max": max})
    assert evaluate(expression, {"q": q, "y.z": z}) == expected
    assert names_in(expression) == {name for name in ("q", "y.z") if name in expression}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 - x", 0.75),
        ("+x / 2", 0.125),
        ("7 // 2 + 7 % 4", 6),
        ("2 ** -1", 0.5),
        ("0 ** 2000", 0),
        ("2 ** 100", 2**100),
        ("sqrt(x)", 0.5),
        ("log2(8) + log10(100) + log(exp(1))", 6.0),
        ("round(x * 10)", 2),
        ("int(abs(-3.5)) + min(1, 2)", 4),
        ("flag * 2", 2),
    ],
)
def test_values(expression: str, value: float) -> None:
    assert evaluate(expression, {"x": 0.25, "flag": True}) == pytest.approx(value)


REFUSED = [
    "__import__('os')",
    "x.__class__()",
    "x if y else z",
    "[x]",
    "x < 1",
    "not x",
    "x @ y",
    "x << 2",
    "'text'",
    "True",
    "None",
    "1j",
    "round(x, ndigits=1)",
    "f(x)",
    "x[0]",
    "(lambda: 1)()",
    "max(*x)",
    "(1).real",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_not_arithmetic_is_refused_before_any_value_is_known(expression: str) -> None:
    with pytest.raises(StudyError, match=r"^an expression cannot contain .*; it may use numbers"):
        names_in(expression)
    with pytest.raises(StudyError, match="an expression cannot contain"):
        evaluate(expression, {"x": 1, "y": 1, "z": 1})


def test_builtins_are_only_names() -> None:
    assert names_in("open") == {"open"}


@pytest.mark.parametrize("expression", ["", "1 +", "x y", "a=1", "\0", "import os", "(" * 150])
def test_what_cannot_be_read(expression: str) -> None:
    with pytest.raises(StudyError) as caught:
        names_in(expression)
    assert str(caught.value) == (
        f"cannot read the expression {expression!r}; write arithmetic such as '1 - x'"
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("1 / zero", "cannot compute '1 / zero': division by zero"),
        ("sqrt(-1)", "cannot compute 'sqrt(-1)': "),
        ("exp(1000)", "cannot compute 'exp(1000)': math range error"),
        ("word + 1", "cannot compute 'word + 1': word is 'relu', not a number"),
        ("nothing + 1", "cannot compute 'nothing + 1': nothing is None, not a number"),
        ("min()", "cannot compute 'min()': "),
        ("(-8) ** 0.5", "'(-8) ** 0.5' gives (1.7"),
        ("1e308 * 10", "'1e308 * 10' gives inf, which is not a finite number"),
        ("10 ** 308 * 10", "cannot compute '10 ** 308 * 10': int too large to convert to float"),
        ("9 ** 9 ** 9", "cannot compute '9 ** 9 ** 9': the power is too large"),
        ("(9 ** 300) ** 300", "cannot compute '(9 ** 300) ** 300': the power is too large"),
        ("2 ** 10 ** 300 ** 9", "cannot compute"),
        (
            "one_minus_momentun",
            "an expression reads the unknown parameter 'one_minus_momentun'; "
            "did you mean 'one_minus_momentum'?",
        ),
    ],
)
def test_what_cannot_be_computed(expression: str, text: str) -> None:
    values: dict[str, Value] = {
        "zero": 0,
        "word": "relu",
        "nothing": None,
        "one_minus_momentum": 0.1,
    }
    with pytest.raises(StudyError) as caught:
        evaluate(expression, values)
    assert str(caught.value).startswith(text)


def test_an_expression_has_a_longest_length() -> None:
    assert evaluate("1" + "+1" * 99, {}) == 100
    with pytest.raises(StudyError, match="an expression may have 200 characters, got 201"):
        names_in("x" * 201)


@given(st.text(max_size=40))
def test_any_text_gives_a_finite_number_or_a_study_error(expression: str) -> None:
    try:
        value = evaluate(expression, {"x": 2, "y": 0.5})
    except StudyError:
        return
    assert isinstance(value, int | float)
    assert math.isfinite(value)
