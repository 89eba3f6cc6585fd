"""Every error is one that the command line tells without a traceback."""

from __future__ import annotations

import pytest

from tunebook.core import errors
from tunebook.core.errors import StudyChanged, StudyError, TunebookError, did_you_mean


@pytest.mark.parametrize(
    "name", ["StudyError", "ProgramError", "StoreError", "StudyOwned", "UnknownName"]
)
def test_every_error_is_ours_and_keeps_its_text(name: str) -> None:
    error = getattr(errors, name)("what happened")
    assert isinstance(error, TunebookError)
    assert str(error) == "what happened"


def test_a_changed_study_carries_its_difference() -> None:
    error = StudyChanged("the study has changed", ("~ seed: 0 -> 1",))
    assert str(error) == "the study has changed"
    assert error.difference == ("~ seed: 0 -> 1",)
    assert isinstance(error, errors.StoreError)


def test_an_error_of_a_study_may_name_a_parameter() -> None:
    assert StudyError("too many").parameter is None
    assert StudyError("x is odd", "x").parameter == "x"


def test_only_a_near_name_is_offered() -> None:
    known = ["dropout", "batch_size", "depth"]
    assert did_you_mean("dropot", known) == "; did you mean 'dropout'?"
    assert did_you_mean("learning_rate", known) == ""
    assert did_you_mean("dropout", []) == ""
