"""The run of a script, and how it ends."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import tunebook
from commandline import call, end
from coordination import small_study
from scripts import outcomes, script
from tunebook.app import tracked
from tunebook.core.errors import TunebookError
from tunebook.execution.outcomes import of_exception


def test_finishing_twice_is_finishing_once(here: Path) -> None:
    run = tunebook.init("mine")
    run.finish()
    run.finish()
    assert tunebook.load("mine").counts() == {"complete": 1}
    with pytest.raises(TunebookError, match=r"mine/1 attempt 1 has finished; begin another run wi"):
        run.log({"loss": 1.0})


def test_the_end_of_a_block(here: Path) -> None:
    with tunebook.init("mine") as run:
        run.log({"loss": 1.0})
    with pytest.raises(ZeroDivisionError), tunebook.init("mine"):
        _ = 1 / 0
    with tunebook.init("mine") as run:
        run.infeasible("too large")
    with pytest.raises(KeyboardInterrupt), tunebook.init("mine"):
        raise KeyboardInterrupt
    kinds = [kind for kind, _ in outcomes(tunebook.load("mine"))]
    assert kinds == ["complete", "failed", "infeasible", "preempted"]


def test_scripts_that_end_in_every_way(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = "import os, sys, tunebook\nrun = tunebook.init('ways')\nrun.log({'loss': 1.0})\n"
    ways = {
        "": 0,
        "run.finish()": 0,
        "raise ValueError('no')": 1,
        "raise KeyboardInterrupt": 1,
        "run.infeasible('too large')": 1,
        "pid = os.fork()\nif not pid: sys.exit(3)\nos.waitpid(pid, 0)": 0,
    }
    said = []
    for number, (way, code) in enumerate(ways.items()):
        done = end(script(here, begin + way, f"way{number}.py"))
        assert abs(done.code) in (code, signal.SIGINT), done.err
        said.append(done.err.strip().splitlines()[-1:] or [""])
    assert outcomes(tunebook.load("ways")) == [
        ("complete", "the script ended"),
        ("complete", "finished"),
        ("failed", "ValueError: no (way2.py:4)"),
        ("preempted", "interrupted"),
        ("infeasible", "too large"),
        ("complete", "the script ended"),
    ]
    assert [line for (line,) in said] == [
        "",
        "",
        "ValueError: no",
        "KeyboardInterrupt",
        "<tunebook run ways/5 attempt 1, infeasible>",
        "",
    ]
    assert all(len(record.curves["loss"]) == 1 for record in tunebook.load("ways"))
    shown = call(capsys, "book").out
    assert "3 complete, 1 infeasible, 1 failed, 1 preempted" in shown
    assert "reproduce  python way0.py" in shown
    assert "called as python way2.py" in " ".join(call(capsys, "show", "ways", "3").out.split())


def test_a_book_that_cannot_be_written_at_the_end_is_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tunebook.init("mine")
    run.log({"loss": 0.5})
    os.rename(here / ".tunebook" / "book.db", here / "aside")
    (here / ".tunebook" / "book.db").write_text("no book")
    tracked._end_open(of_exception(ValueError("no")))
    assert capsys.readouterr().err.startswith("tunebook: ")
    for leftover in (here / ".tunebook").glob("book.db*"):
        leftover.unlink()
    os.rename(here / "aside", here / ".tunebook" / "book.db")
    with tunebook.init("mine"):
        results = tunebook.load("mine")
    assert outcomes(results) == [("failed", "ValueError: no")]
    assert len(results[1].curves["loss"]) == 1


def test_divergence_inside_a_study_ends_the_trial_through_the_block(here: Path) -> None:
    def train(run: tunebook.Run) -> None:
        with tunebook.init() as mine:
            mine.log({"error": float("nan")})
        raise AssertionError("the trial has ended")

    results = tunebook.run(small_study(trials=1), train, inline=True, quiet=True)
    assert results.counts() == {"infeasible": 2}


def test_checkpoints_timings_and_files(here: Path) -> None:
    with tunebook.init("mine") as run:
        assert run.resume() is None
        with run.checkpoint(3) as folder:
            (folder / "weights").write_text("1")
        assert run.resume() is not None
        with run.timing("data"):
            run.log({"loss": 1.0})
        (run.folder / "picture").write_text("2")
        assert (run.seed, run.budget) == (0, None)
