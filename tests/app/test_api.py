"""The same from Python: run, load, read."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

import tunebook
from coordination import small_study
from tunebook.core.errors import ProgramError, StudyChanged, StudyError

STUDY = small_study(trials=1)


def train(run: tunebook.Run) -> object:
    return run["x"]


def test_a_study_and_a_function_are_enough(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tunebook.Study(
        "depth",
        tunebook.Space.of(
            scientific={"blocks": [2, 3]},
            nuisance={"learning_rate": tunebook.Float(1e-4, 1e-1, log=True)},
        ),
        tunebook.Objective(tunebook.Metric("error")),
        trials=2,
    )
    results = tunebook.run(study, lambda run: run["learning_rate"] / run["blocks"], workers=2)
    assert results.counts() == {"complete": 4}
    assert tunebook.load("depth") == results
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "depth: 0 of 4 trials done, 2 workers"
    assert len(err.splitlines()) == 5


def test_quiet_is_quiet(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tunebook.run(STUDY, train, inline=True, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_a_function_may_be_named(toy: Path) -> None:
    study = tunebook.read("size.yaml")
    assert (study.name, study.file) == ("size", "size.yaml")
    by_file = tunebook.run(replace(study, trials=1), inline=True, quiet=True)
    by_text = tunebook.run(study, "train.py:train", inline=True, quiet=True)
    assert (len(by_file), len(by_text)) == (2, 4)


def test_the_book_knows_what_ran(here: Path) -> None:
    results = tunebook.run(
        replace(STUDY, program="other.py:other"), train, inline=True, quiet=True, folder="book"
    )
    assert results.study.program is not None
    assert results.study.program.endswith(":train")
    assert tunebook.load("small", folder="book").study == results.study


def test_ctrl_c_gives_back_the_results_so_far(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def impatient(run: tunebook.Run) -> object:
        if run.params["arm"] == "b":
            os.kill(os.getpid(), signal.SIGINT)
        return run["x"]

    results = tunebook.run(STUDY, impatient, inline=True)
    assert results.counts() == {"complete": 1, "preempted": 1}
    assert capsys.readouterr().err.splitlines()[-1] == "Interrupted. Run again to continue."
    assert tunebook.run(STUDY, train, inline=True).counts() == {"complete": 2}


def test_a_function_that_breaks_pauses_the_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(run: tunebook.Run) -> None:
        raise ValueError("no such layer")

    results = tunebook.run(small_study(trials=10), broken, inline=True)
    assert results.counts() == {"failed": 5}
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("Paused: 5 attempts in a row broke within 60 s, the last one: ValueErr")
    assert last.endswith("or with retry_failed=True.")


def test_mistakes_are_told_as_such(here: Path) -> None:
    with pytest.raises(StudyError, match="small names no program"):
        tunebook.run(STUDY)
    with pytest.raises(ProgramError, match="'train' does not name a training function"):
        tunebook.run(STUDY, "train")
    with pytest.raises(ProgramError, match="must take one argument, the run"):
        tunebook.run(STUDY, lambda: 1)
    with pytest.raises(StudyError, match=r"none\.yaml does not exist"):
        tunebook.read("none.yaml")
    tunebook.run(STUDY, train, inline=True, quiet=True)
    with pytest.raises(StudyChanged, match="seed: 0 -> 1"):
        tunebook.run(replace(STUDY, seed=1), train, inline=True, quiet=True)
