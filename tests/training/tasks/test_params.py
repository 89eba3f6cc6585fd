"""Parameters of tasks: their types, their defaults, and what is said of wrong ones."""

from __future__ import annotations

import re

import pytest

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.training.tasks.params import one_of, rate, size, switch, text


@pytest.mark.parametrize("params", [{}, {"p": None}])
def test_missing_and_null_have_the_default(params: dict[str, Value]) -> None:
    assert size(params, "p", 3) == 3
    assert rate(params, "p", 0.25) == 0.25
    assert switch(params, "p", True) is True
    assert one_of(params, "p", "b", ("a", "b")) == "b"
    assert text(params, "p") is None


def test_a_value_comes_with_its_type() -> None:
    assert (size({"p": 8.0}, "p", 3), type(size({"p": 8.0}, "p", 3))) == (8, int)
    assert (rate({"p": 0}, "p"), type(rate({"p": 0}, "p"))) == (0.0, float)
    assert switch({"p": False}, "p", True) is False
    assert one_of({"p": "a"}, "p", "b", ("a", "b")) == "a"
    assert text({"p": "notes.txt"}, "p") == "notes.txt"


@pytest.mark.parametrize("value", [0, -3, 2.5, True, "64", float("nan"), float("inf")])
def test_a_size_is_whole_and_positive(value: Value) -> None:
    message = f"width must be a whole number of at least 1, got {value!r}"
    with pytest.raises(StudyError, match=re.escape(message)) as error:
        size({"width": value}, "width", 24)
    assert error.value.parameter == "width"


@pytest.mark.parametrize("value", [-0.1, 1, 1.0, False, "0.5", float("nan")])
def test_a_rate_lies_below_one(value: Value) -> None:
    message = f"dropout must be a number from 0 up to 1, without 1, got {value!r}"
    with pytest.raises(StudyError, match=re.escape(message)):
        rate({"dropout": value}, "dropout")


@pytest.mark.parametrize("value", [0, 1, "true", "no"])
def test_nothing_but_true_and_false_is_a_switch(value: Value) -> None:
    with pytest.raises(StudyError, match=f"tied must be true or false, got {value!r}"):
        switch({"tied": value}, "tied", True)


def test_a_misspelt_name_is_told_the_nearest() -> None:
    message = "norm must be none, batch or layer, got 'bach'; did you mean 'batch'?"
    with pytest.raises(StudyError, match=re.escape(message)):
        one_of({"norm": "bach"}, "norm", "none", ("none", "batch", "layer"))


@pytest.mark.parametrize("value", [3, True, 0.5])
def test_a_number_is_no_name_and_no_text(value: Value) -> None:
    with pytest.raises(StudyError, match=f"norm must be none or batch, got {value!r}"):
        one_of({"norm": value}, "norm", "none", ("none", "batch"))
    with pytest.raises(StudyError, match=f"text must be a text, got {value!r}"):
        text({"text": value}, "text")
