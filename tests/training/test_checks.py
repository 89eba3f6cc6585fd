"""Checks of values: what they read, and what they say of the rest."""

from __future__ import annotations

import math

import pytest

from tunebook.core.errors import StudyError
from tunebook.training.checks import (
    ABOVE_0,
    AT_LEAST_0,
    BELOW_1,
    FROM_0_TO_1,
    SWITCH,
    Check,
    one_of,
    whole,
)

NAMES = one_of({"none": 0, "ema": 1, "polyak": 2})


@pytest.mark.parametrize(
    ("check", "value", "found"),
    [
        (whole(1), 1, 1),
        (whole(0), 0.0, 0),
        (whole(1), 128.0, 128),
        (ABOVE_0, 1e-300, 1e-300),
        (ABOVE_0, 3, 3.0),
        (AT_LEAST_0, 0, 0.0),
        (FROM_0_TO_1, 0, 0.0),
        (FROM_0_TO_1, 1, 1.0),
        (BELOW_1, 0.999, 0.999),
        (BELOW_1, 0, 0.0),
        (SWITCH, True, True),
        (SWITCH, False, False),
        (NAMES, "ema", "ema"),
    ],
)
def test_what_passes_is_given_back_with_its_type(
    check: Check, value: object, found: object
) -> None:
    read = check("x", value)
    assert read == found
    assert type(read) is type(found)


@pytest.mark.parametrize(
    ("check", "values", "wanted"),
    [
        (whole(1), [0, 1.5, "1", True, math.inf, 10**400], "a whole number of at least 1"),
        (whole(0), [-1, math.nan], "a whole number of at least 0"),
        (ABOVE_0, [0, -1.0, "1", True, math.inf, math.nan], "a number above 0"),
        (AT_LEAST_0, [-1e-9, math.inf, 10**400], "a number of at least 0"),
        (FROM_0_TO_1, [-0.1, 1.1], "a number from 0 to 1"),
        (BELOW_1, [-0.1, 1.0], "a number from 0 up to 1, without 1"),
        (SWITCH, [0, 1, "true", None], "true or false"),
        (NAMES, ["sgd", 1, None, ["ema"]], "none, ema or polyak"),
    ],
)
def test_what_fails_is_named_with_what_it_must_be(
    check: Check, values: list[object], wanted: str
) -> None:
    for value in values:
        with pytest.raises(StudyError) as caught:
            check("knob", value)
        assert str(caught.value) == f"knob must be {wanted}, got {value!r}"
        assert caught.value.parameter == "knob"


def test_a_misspelt_name_is_mended() -> None:
    with pytest.raises(StudyError, match=r"got 'polyack'; did you mean 'polyak'\?"):
        NAMES("average", "polyack")
