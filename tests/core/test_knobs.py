"""Knobs name parameters that exist."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest

from tunebook.core.errors import StudyError
from tunebook.core.knobs import METRIC_KNOBS, PARAMETER_KNOBS, Knobs
from tunebook.core.space import Space

SPACE = Space.of(fixed={"lr": 0.1, "dropout": 0.0})


def test_the_kinds_of_knobs() -> None:
    assert (PARAMETER_KNOBS[0], PARAMETER_KNOBS[-1]) == ("learning_rate", "seed_split")
    known = {field.name for field in fields(Knobs)}
    assert set(PARAMETER_KNOBS) | set(METRIC_KNOBS) < known
    assert not set(PARAMETER_KNOBS) & set(METRIC_KNOBS)


def test_knobs_of_the_space_pass() -> None:
    Knobs(learning_rate="lr", no_regularisation=(("dropout", 0.0),), train_loss="any").check(SPACE)


@pytest.mark.parametrize("knob", PARAMETER_KNOBS)
def test_a_parameter_that_is_not_there(knob: str) -> None:
    with pytest.raises(StudyError) as caught:
        Knobs(**{knob: "dropot"}).check(SPACE)  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"the knob {knob} names 'dropot', which is no parameter; did you mean 'dropout'?"
    )


@pytest.mark.parametrize("knob", ["no_regularisation", "no_augmentation"])
def test_a_switch_that_is_not_there(knob: str) -> None:
    with pytest.raises(StudyError, match=f"the knob {knob} names 'flip', which is no parameter"):
        Knobs(**{knob: (("flip", False),)}).check(SPACE)  # type: ignore[arg-type]


@pytest.mark.parametrize("fact", ["chance", "target"])
def test_facts_are_finite(fact: str) -> None:
    with pytest.raises(StudyError, match="a value must be finite, got nan"):
        Knobs(**{fact: math.nan}).check(SPACE)  # type: ignore[arg-type]


def test_missing_knobs_are_named() -> None:
    knobs = Knobs(learning_rate="lr", chance=0.0)
    asked = ("learning_rate", "batch_size", "chance", "no_augmentation")
    assert knobs.missing(*asked) == ("batch_size", "no_augmentation")
    assert knobs.missing() == ()
