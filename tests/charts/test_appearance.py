"""Groups can be told apart: by everyone, on light and on dark."""

from __future__ import annotations

import numpy as np
import pytest

from drawings import bars, curves, figure_of, panel_of
from tunebook.charts.appearance import (
    COLOURS,
    DASHES,
    HATCH_NAMES,
    HATCHES,
    MARKERS,
    ON_DARK,
    SHAPES,
    colour,
    dashes,
    rule_dashes,
    rule_names,
    several_groups,
    stylesheet,
)
from tunebook.charts.figures import Bars, Line, Rule


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("value", COLOURS)
def test_colours_stand_out_on_white_and_on_black(value: str) -> None:
    assert contrast(value, "#ffffff") >= 3
    assert contrast(value, "#111111") >= 3


@pytest.mark.parametrize("value", ON_DARK)
def test_colours_for_the_dark_stand_out_there(value: str) -> None:
    assert contrast(value, "#111111") >= 4.5


def mixed(value: str, ground: str, share: float) -> str:
    pairs = [(int(value[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


@pytest.mark.parametrize(
    ("paint", "ground", "words"),
    [
        (COLOURS[0], "#ffffff", "#222222"),
        (COLOURS[0], "#111111", "#e6e6e6"),
        (ON_DARK[0], "#111111", "#e6e6e6"),
    ],
)
def test_words_on_the_darkest_tile_can_be_read(paint: str, ground: str, words: str) -> None:
    assert contrast(mixed(paint, ground, 0.65), words) >= 4


def test_there_is_a_second_channel_for_every_group() -> None:
    assert len(set(SHAPES)) == len(set(MARKERS)) == len(COLOURS) == len(ON_DARK)
    assert len(set(DASHES[:-1])) == len(DASHES) - 1 == len(COLOURS) - 1
    assert len(set(HATCHES)) == len(HATCHES) == len(set(HATCH_NAMES))


def test_groups_beyond_the_last_begin_again() -> None:
    assert colour(len(COLOURS)) == colour(0)
    assert dashes(len(DASHES) + 1, False, True) == DASHES[1]


def test_dashes_tell_groups_apart_only_where_there_are_several() -> None:
    assert dashes(3, dashed=False, several=False) == ()
    assert dashes(3, dashed=False, several=True) == DASHES[3]
    assert dashes(0, dashed=True, several=False) not in DASHES


def test_a_page_has_both_schemes() -> None:
    light, dark = stylesheet().split("@media (prefers-color-scheme:dark)")
    assert f"--tb-1:{COLOURS[0]};" in light
    assert f"--tb-8:{ON_DARK[7]};" in dark
    assert "--tb-ground:#111111" in dark


def test_rules_of_other_names_have_other_dashes() -> None:
    rules = (Rule(0.0, "x", "low"), Rule(1.0, "x", "high"), Rule(0.5, "y", "solid", dashed=False))
    names = rule_names(figure_of(panel_of(*rules), panel_of(*rules)))
    assert names == ("low", "high")
    patterns = [rule_dashes(rule, names) for rule in rules]
    assert patterns[0] != patterns[1]
    assert patterns[2] == ()


def test_groups_are_counted_over_all_panels() -> None:
    assert several_groups(curves(), Line)
    assert not several_groups(curves(), Bars)
    assert several_groups(bars(), Bars)
    x = np.arange(2.0)
    apart = figure_of(panel_of(Line(x, x, 0)), panel_of(Line(x, x, 1)))
    assert several_groups(apart, Line)
