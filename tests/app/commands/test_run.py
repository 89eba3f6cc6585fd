"""`tunebook run`, as a user meets it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from commandline import Done, call, end, interrupt, start, wait_until, write_study
from tunebook.files import spool


def test_quiet_and_json_say_no_more_than_asked(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "run", "size.yaml", "--inline", "-q") == Done(0, "", "")
    done = call(capsys, "run", "size.yaml", "--inline", "-q", "--json")
    assert (json.loads(done.out)["ended"], done.err) == ("done", "")


def test_trials_that_broke_are_pointed_at(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = call(capsys, "run", "mixed.yaml", "--inline").out
    failed = json.loads(call(capsys, "show", "mixed", "--json").out)["not_complete"][0]
    assert failed["reason"] == "ValueError: too small (mixed.py:4)"
    assert f"What went wrong: tunebook show mixed {failed['trial']}." in out
    shown = call(capsys, "show", "mixed", failed["trial"]).out
    assert "Traceback (most recent call last)" in shown


def test_a_program_that_breaks_pauses_the_run(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (toy / "train.py").write_text("def train(run):\n    raise ValueError('no')\n")
    done = call(capsys, "run", "size.yaml", "--trials", "9", "--inline", "--json")
    data = json.loads(done.out)
    assert (done.code, data["ended"], data["outcomes"]) == (3, "paused", {"failed": 5})
    assert done.err.splitlines()[-2:] == [
        f"{data['reason']}",
        "Mend the program and run again: failed trials are tried again when the code has changed, "
        "or with --retry-failed.",
    ]
    write_study(toy)
    mended = call(capsys, "run", "size.yaml", "--trials", "9", "--inline", "--json")
    assert (mended.code, json.loads(mended.out)["outcomes"]) == (0, {"complete": 18})


def test_a_study_in_which_no_trial_has_a_result_ends_with_its_own_code(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (toy / "train.py").write_text("def train(run):\n    raise ValueError('no')\n")
    done = call(capsys, "run", "size.yaml", "--inline", "-q")
    assert done == Done(5, "", "No trial has a result: 4 failed.\n")
    write_study(toy)
    assert call(capsys, "run", "size.yaml", "--inline", "-q").code == 0


@pytest.mark.parametrize("seconds", ["nan", "inf", "0.5", "-3"])
def test_a_stall_timeout_that_is_no_number(
    toy: Path, capsys: pytest.CaptureFixture[str], seconds: str
) -> None:
    done = call(capsys, "run", "size.yaml", "--stall-timeout", seconds)
    assert done.code == 2
    assert f"{seconds} is not a number of seconds from 1 on." in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run none.yaml", "none.yaml does not exist; `tunebook init` writes a study file"),
        ("run .", ". is a folder; name the study file in it"),
        ("run typo.yaml", "typo.yaml:4: unknown key 'objectve'; did you mean 'objective'?"),
        ("run size.yaml --workers 0", "the number of workers must be at least 1, got 0"),
        ("run size.yaml --trials 0", "trials must be from 1 to 1000000, got 0"),
        ("run size.yaml --join", "no process runs size now; leave out --join to run it here"),
        ("run size.yaml --dir train.py/x", "cannot make a book in "),
        ("run function.yaml --inline", "train.py has no function 'trian'; did you mean 'train'?"),
        ("run function.yaml", "train.py has no function 'trian'; did you mean 'train'?"),
        ("run missing.yaml", "there is no file 'trian.py' in "),
        ("run missing.yaml --inline", "there is no file 'trian.py' in "),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    toy: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    study = (toy / "size.yaml").read_text()
    (toy / "typo.yaml").write_text(study.replace("objective", "objectve"))
    (toy / "function.yaml").write_text(study.replace(":train", ":trian"))
    (toy / "missing.yaml").write_text(study.replace("train.py", "trian.py"))
    (toy / "bad name.yaml").write_text(study)
    done = call(capsys, *arguments.split())
    assert done.code == 1
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_terminal_gets_a_live_table_and_then_the_results(here: Path) -> None:
    write_study(here, pause=0.1)
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-m", "tunebook", "run", "size.yaml"],
        env={**os.environ, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    # Reading from a terminal that nobody holds any more is an error on Linux.
    with contextlib.suppress(OSError):
        while piece := os.read(ours, 65536):
            written += piece
    os.close(ours)
    assert process.wait() == 0
    live, _, final = written.decode().rpartition("Ctrl-C stops; the same command continues")
    assert "best valid/error" in live
    assert "Best trials" not in live
    assert "Best trials" in final


def running(folder: Path) -> list[Path]:
    """The spools of attempts in which something was logged."""
    spools = folder.glob(".tunebook/studies/*/*/*/spool")
    return [path for path in spools if len(list(spool.read(path))) > 1]


def test_ctrl_c_once_and_again_to_the_end(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(here, pause=1.0)
    process = start(here, "run", "size.yaml", "--workers", "2")
    wait_until(lambda: len(running(here)) == 2)
    interrupt(process)
    left = end(process)
    assert left.code == 130
    assert "Stopping: trials have 30 s to save and leave." in left.err
    assert left.out.splitlines()[-1] == "To continue: tunebook run size.yaml"
    before = json.loads(call(capsys, "show", "size", "--json").out)["outcomes"]
    assert before == {"preempted": 2}
    write_study(here)
    again = end(start(here, "run", "size.yaml", "--workers", "2", "--json"))
    data = json.loads(again.out)
    assert (again.code, data["ended"], data["outcomes"]) == (0, "done", {"complete": 4})


def test_ctrl_c_twice_ends_a_program_that_does_not_listen(here: Path) -> None:
    write_study(here)
    (here / "train.py").write_text(
        "import pathlib, time\n"
        "def train(run):\n"
        "    pathlib.Path('begun').touch()\n"
        "    while True:\n"
        "        try:\n"
        "            time.sleep(60)\n"
        "        except BaseException:\n"
        "            pass\n"
    )
    process = start(here, "run", "size.yaml", "--workers", "1")
    wait_until((here / "begun").exists)
    interrupt(process)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("Stopping"):
            break
    interrupt(process)
    left = end(process)
    assert left.code == 130
    assert "Ending every trial at once." in left.err
    assert "1 preempted" in left.out


def test_ctrl_c_while_the_program_is_imported(here: Path) -> None:
    write_study(here)
    (here / "train.py").write_text(
        "import pathlib, time\npathlib.Path('importing').touch()\ntime.sleep(600)\n"
        "def train(run): ...\n"
    )
    process = start(here, "run", "size.yaml")
    wait_until((here / "importing").exists)
    interrupt(process)
    left = end(process)
    assert left.code == 130
    assert "Traceback" not in left.err
    assert "1 preempted" in left.out
