"""Every text is kept, whatever it looks like."""

from __future__ import annotations

import pytest
from hypothesis import given

from strategies import AMBIGUOUS, numbers, texts, values
from tunebook.core.domains import Value
from tunebook.studyfile.document import load
from tunebook.studyfile.layout import dump, inline


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_ambiguous_text_is_kept(text: str) -> None:
    content = {"goal": text, "fixed": {"a": text}, "baseline": {text: [text, {text: text}]}}
    assert load(dump(content)).content == content


@given(values, texts)
def test_any_value_is_kept_within_a_line(value: Value, key: str) -> None:
    text = inline({key: [value]})
    assert len(text.splitlines()) == 1
    found = load(f"a: {text}").content["a"]
    assert found == {key: [value]}
    assert type(found[key][0]) is type(value)


@given(numbers)
def test_numbers_keep_their_kind(number: float) -> None:
    found = load(f"a: {inline(number)}").content["a"]
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-5, "1e-5"),
        (1e22, "1e+22"),
        (0.1, "0.1"),
        (None, "null"),
        (False, "false"),
        ("valid/error", "valid/error"),
        ("train.py:train", "train.py:train"),
        ("1 - x", "1 - x"),
        ("no", "no"),
        ("null", "'null'"),
        ("12", '"12"'),
        ({"log": [1, 2]}, "{log: [1, 2]}"),
    ],
)
def test_values_look_as_a_person_would_write_them(value: object, text: str) -> None:
    assert inline(value) == text


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("a\nb", "note: |-\n  a\n  b\n"),
        ("a\n\n  b\n", "note: |\n  a\n\n    b\n"),
        (" a\nb", 'note: " a\\nb"\n'),
        ("a \nb", 'note: "a \\nb"\n'),
    ],
)
def test_lines_are_kept_as_lines_where_yaml_can(note: str, text: str) -> None:
    assert dump({"note": note}) == text
    assert load(text).content == {"note": note}
