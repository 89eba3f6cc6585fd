"""The description of an attempt, and requests to stop, as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from attempts import attempt_in
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Asked, Budget, Divergence, Study
from tunebook.execution.slots import Slot
from tunebook.execution.spec import ON_TERMINATION, Spec, StopRequest, Terms


@pytest.mark.parametrize(
    "terms",
    [
        Terms(None, Divergence(), None),
        Terms(Metric("accuracy", "higher"), Divergence(("a", "b"), 1e3), Budget(5, "seconds")),
        Terms(Metric("error"), Divergence(), None, measured=True),
    ],
)
@pytest.mark.parametrize("slot", [Slot(), Slot(2, 4, ("0", "MIG-1"), 2**30)])
def test_a_description_is_read_back(tmp_path: Path, terms: Terms, slot: Slot) -> None:
    attempt = attempt_in(tmp_path, 3, 2, seed=7, config={"lr": 0.1, "name": "é", "flag": None})
    spec = Spec(attempt, terms, slot)
    spec.write()
    assert Spec.read(spec.folder) == spec
    assert spec.folder.stat().st_mode & 0o777 == 0o700
    assert (spec.folder / "attempt.json").stat().st_mode & 0o777 == 0o600


def test_terms_are_those_of_the_study() -> None:
    study = Study(
        "s",
        Space(),
        Objective(Metric("error")),
        budget=Budget(10),
        divergence=Divergence(("train",), 5.0),
    )
    assert Terms.of(study) == Terms(Metric("error"), Divergence(("train",), 5.0), Budget(10))
    stage = replace(study, asked=Asked("variance", study))
    assert Terms.of(stage) == replace(Terms.of(study), measured=True)


def test_the_files_of_an_attempt_are_in_its_folder(tmp_path: Path) -> None:
    spec = Spec(attempt_in(tmp_path), Terms(None, Divergence(), None))
    assert spec.folder == tmp_path / "1" / "1"
    files = (spec.spool, spec.output, spec.lock, spec.fence)
    assert [path.name for path in files] == ["spool", "log.txt", "lock", "fenced"]
    assert {path.parent for path in files} == {spec.folder}


def test_a_request_is_read_back(tmp_path: Path) -> None:
    assert StopRequest.read(tmp_path) is None
    request = StopRequest("stop", "by a rule", 30.0)
    request.write(tmp_path)
    assert StopRequest.read(tmp_path) == request
    assert json.loads((tmp_path / "stop").read_text())["kind"] == "stop"


def test_whoever_asked_first_is_not_overwritten(tmp_path: Path) -> None:
    ON_TERMINATION.write_if_first(tmp_path)
    assert StopRequest.read(tmp_path) == ON_TERMINATION
    urgent = StopRequest("preempt", "interrupted", 0.0)
    urgent.write(tmp_path)
    ON_TERMINATION.write_if_first(tmp_path)
    assert StopRequest.read(tmp_path) == urgent


def test_a_signal_handler_may_find_no_folder(tmp_path: Path) -> None:
    ON_TERMINATION.write_if_first(tmp_path / "gone")
    (tmp_path / "stop").mkdir()
    ON_TERMINATION.write_if_first(tmp_path)
