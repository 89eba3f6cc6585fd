"""Texts in drawings: one line, harmless, no longer than their room."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tunebook.charts.labels import clean, escaped, shortened, width_of

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_clean_texts_have_no_controls_and_stay_clean(text: str) -> None:
    made = clean(text)
    assert not any(
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in made
    )
    assert not any(unicodedata.bidirectional(character) in BIDI for character in made)
    assert clean(made) == made


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_escaped_texts_come_back_from_xml_as_they_were_cleaned(text: str) -> None:
    element = ElementTree.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert (element.text or "") == clean(text)
    assert element.attrib["b"] == clean(text)


@given(st.text(max_size=80), st.floats(20, 300), st.sampled_from([11.0, 12.0, 13.0]))
def test_shortened_texts_fit_and_short_ones_are_left_alone(
    text: str, width: float, size: float
) -> None:
    made = shortened(text, width, size)
    assert width_of(made, size) <= max(width, 2.1 * size)
    if width_of(clean(text), size) <= width:
        assert made == clean(text)
    else:
        assert "…" in made


def test_a_name_keeps_its_beginning_and_its_end() -> None:
    assert shortened("nesterov.learning_rate", 90, 11) == "nestero…g_rate"


def test_wide_characters_take_more_room() -> None:
    assert width_of("損失", 10) > width_of("loss"[:2], 10)
    assert width_of("WW", 10) > width_of("il", 10)
    assert width_of("e\u0301", 10) == width_of("e", 10)
