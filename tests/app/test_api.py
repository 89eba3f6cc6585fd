"""The same from Python: run, load, read."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

import tunebook
from coordination import small_study
from probed import write_probed
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


# Probes.


@pytest.fixture
def probed(here: Path) -> tunebook.Study:
    return tunebook.read(write_probed(here).relative_to(here))


def test_a_probe_from_python(probed: tunebook.Study, capsys: pytest.CaptureFixture[str]) -> None:
    made = tunebook.probe("variance", probed, seeds=2, workers=2)
    assert [finding.question.key for finding in made.findings] == [
        *("probe-variance", "probe-seeds", "probe-variance-sources"),
    ]
    assert "Over 2 seeds" in made._repr_html_()
    err = capsys.readouterr().err
    assert err.startswith("Starts from the values of small, with x in the middle of its range.\n")
    report = tunebook.report_on("small.variance.all")
    assert "Over 2 seeds" in str(report)
    assert str(report).count("Over 2 seeds") == 1
    # Judged anew, it is a study like any other.
    other = tunebook.report_on("small.variance.all", "last")
    assert "Over 2 seeds" not in str(other)


def test_a_probe_of_a_function_and_of_a_study_of_the_book(here: Path) -> None:
    tunebook.run(STUDY, train, inline=True, quiet=True)
    made = tunebook.probe("variance", STUDY.name, train, seeds=2, given={"x": 0.2}, quiet=True)
    assert made.report is not None
    assert made.report.study.asked is not None
    assert dict(made.report.study.asked.start)["x"] == 0.2
    again = tunebook.probe("variance", STUDY, train, again=True, seeds=2, quiet=True)
    assert again.report is not None
    assert again.report.study.name == f"{STUDY.name}.variance-2.same"


def test_options_that_a_probe_does_not_have(probed: tunebook.Study) -> None:
    for options, text in (
        ({"seed": 3}, "the probe variance has no option 'seed'; did you mean 'seeds'?"),
        ({"xyz": 3}, "the probe variance has no option 'xyz'; it has seeds, difference"),
        ({"seeds": "ten"}, "seeds of the probe variance is a whole number, got 'ten'"),
        ({"seeds": 2.5}, "seeds of the probe variance is a whole number, got 2.5"),
        ({"seeds": 1}, "seeds of the probe variance is at least 2, got 1"),
        ({"difference": True}, "difference of the probe variance is a number, got True"),
        ({"difference": -1}, "difference of the probe variance is above 0, got -1"),
    ):
        with pytest.raises(StudyError) as caught:
            tunebook.probe("variance", probed, quiet=True, **options)  # type: ignore[arg-type]
        assert str(caught.value) == text
    with pytest.raises(tunebook.TunebookError, match="no probe is named 'varience'; did you mean"):
        tunebook.probe("varience", probed)


@pytest.mark.parametrize("sizes", ["16,x", "16,,64", "", "0", "-4", [16, 64], 0])
def test_sizes_that_are_none_are_a_mistake_told_as_such(here: Path, sizes: object) -> None:
    for more in ({}, {"to_goal": True, "goal": 0.1}):
        with pytest.raises(StudyError) as caught:
            tunebook.probe("batch-size", STUDY, train, sizes=sizes, quiet=True, **more)  # type: ignore[arg-type]
        assert str(caught.value) == (
            f"sizes takes batch sizes in one text, such as 16,64,256; got {sizes!r}"
        )


def test_a_probe_whose_program_breaks_says_so(
    probed: tunebook.Study, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(run: tunebook.Run) -> None:
        raise ValueError("no data")

    made = tunebook.probe("variance", probed, broken, seeds=6)
    assert made.report is None
    assert made.findings == ()
    assert "Mend the program and probe again" in capsys.readouterr().err
    assert "no data" in str(made)
    assert "no data" in made._repr_html_()
