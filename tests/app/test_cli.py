"""The command line, as a user meets it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from commandline import Done, call, end, interrupt, start, wait_until, write_study
from snapshots import check_snapshot
from test_imports import HEAVY, loaded_by
from tunebook import __version__
from tunebook.app import cli
from tunebook.files import spool

# Mappings from names that users choose, not from names that we do.
CHOSEN = {"fixed", "outcomes", "params", "setting", "metrics", "differences", "equal", "numbers"}
KINDS = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "text"}


def flags() -> Iterator[str]:
    """A line for each argument and option of each command."""
    group: Any = get_command(cli.app)
    for name, command in [("", group), *sorted(group.commands.items())]:
        for parameter in command.params:
            spelled = ", ".join(parameter.opts)
            facts = [parameter.metavar or ("" if parameter.is_flag else "?")]
            facts += ["required"] if parameter.required else []
            facts += ["many"] if parameter.nargs == -1 or parameter.multiple else []
            if parameter.default not in (None, False):
                facts.append(f"default {parameter.default}")
            yield " ".join(filter(None, ["tunebook", name, spelled, *facts]))


def shape(samples: Iterable[Any], path: str = "") -> Iterator[str]:
    """A line for each place in JSON values, with the kinds of values that stand there."""
    samples = list(samples)
    mappings = [sample for sample in samples if isinstance(sample, dict)]
    items = [item for sample in samples if isinstance(sample, list) for item in sample]
    kinds = {KINDS[type(sample)] for sample in samples if type(sample) in KINDS}
    kinds |= ({"mapping"} if mappings else set()) | (
        {"list"} if any(isinstance(sample, list) for sample in samples) else set()
    )
    yield f"{path or '.'}: {' or '.join(sorted(kinds))}"
    if path.rpartition(".")[2] in CHOSEN:
        yield from shape([v for m in mappings for v in m.values()], f"{path}.*") if mappings else ()
    else:
        for key in dict.fromkeys(key for mapping in mappings for key in mapping):
            yield from shape([m[key] for m in mappings], f"{path}.{key}")
    if items:
        yield from shape(items, f"{path}[]")


@pytest.fixture
def book(toy: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A book with a study in a repository, and one with trials that broke and diverged."""
    (toy / "mixed.py").write_text(
        "def train(run):\n"
        "    print('begun')\n"
        "    if run['x'] < 0.5:\n"
        "        raise ValueError('too small')\n"
        "    run.log({'error': run['x'], 'nan': float('nan')}, step=3)\n"
        "    return float('nan') if run['x'] > 0.8 else None\n"
    )
    (toy / "mixed.yaml").write_text(
        "study: mixed\nnote: a note\nparent: size\nprogram: mixed.py:train\n"
        "objective: {metric: error, better: lower}\n"
        "fixed: {flag: true, nothing: null, name: text}\n"
        "nuisance: {x: {linear: [0, 1]}}\ntrials: 8\n"
    )
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for step in (["init"], ["add", "train.py"], ["commit", "--message", "First"]):
        subprocess.run([*git, *step], check=True, capture_output=True)
    (toy / "train.py").write_text((toy / "train.py").read_text() + "# changed\n")
    assert call(capsys, "run", "size.yaml", "--inline").code == 0
    assert call(capsys, "run", "mixed.yaml", "--inline").code == 0
    return toy


def test_the_flags_of_every_command() -> None:
    check_snapshot("flags.txt", "\n".join(flags()))


def test_the_shapes_of_json(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shapes(*commands: list[str]) -> Iterator[str]:
        yield f"tunebook {commands[0][0]}{' STUDY TRIAL' if len(commands[0]) == 4 else ''} --json"
        done = [call(capsys, *command) for command in commands]
        assert {one.code for one in done} == {0}
        yield from (f"  {line}" for line in shape([json.loads(one.out) for one in done]))

    studies = ("size", "mixed")
    lines = [
        *shapes(*(["run", f"{name}.yaml", "--json"] for name in studies)),
        *shapes(*(["show", name, "--json"] for name in studies)),
        *shapes(*(["show", "mixed", str(n), "--json"] for n in range(1, 9))),
        *shapes(["compare", "size/1", "size/2", "mixed/1", "--json"]),
        *shapes(["book", "--json"]),
        *shapes(*(["report", name, "--json"] for name in studies)),
    ]
    check_snapshot("json.txt", "\n".join(lines))


def test_help_loads_nothing_heavy() -> None:
    help_ = (
        "from tunebook.app.cli import main\nsys.argv = ['tunebook', '--help']\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code"
    )
    assert loaded_by(help_) == set()
    assert "numpy" not in HEAVY
    code = f"import sys\n{help_}\nassert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_every_command_has_an_example_and_a_line_that_is_not_cut(
    capsys: pytest.CaptureFixture[str],
) -> None:
    overview = call(capsys, "--help")
    group: Any = get_command(cli.app)
    assert overview.code == 0
    assert "..." not in overview.out.partition("Commands:")[2]
    for name in group.commands:
        shown = call(capsys, name, "-h").out
        assert f"Example: tunebook {name}" in shown
        assert max(map(len, shown.splitlines())) <= 80


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version") == Done(0, f"tunebook {__version__}\n", "")


def test_a_first_hour(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(here)
    os.remove("size.yaml")
    first = call(capsys, "init", "train.py:train")
    assert first == Done(
        0,
        "Wrote train.yaml, with the parameters and metrics that train.py:train names.\n"
        "These have no value yet; write one into the file: model\n"
        "Read it, then: tunebook run train.yaml\n",
        "",
    )
    lines = Path("train.yaml").read_text()
    Path("train.yaml").write_text(lines.replace("fixed:\n", "fixed:\n  model: big\n"))
    run = call(capsys, "run", "train.yaml", "--trials", "2", "--inline")
    assert run.code == 0
    assert run.out.splitlines()[-1] == "More: tunebook show train 1; tunebook book"
    assert run.err.splitlines()[0] == "train: 0 of 2 trials done, 1 worker"
    assert call(capsys, "show", "train", "1").out == call(capsys, "show", "train/1").out
    assert call(capsys, "show", "train", "--file").out.startswith("study: train\n")
    assert "train/1" in call(capsys, "compare", "train/1", "train/2").out
    assert "tunebook run train.yaml --trials 2" in call(capsys, "book").out


def test_quiet_and_json_say_no_more_than_asked(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "run", "size.yaml", "--inline", "-q") == Done(0, "", "")
    done = call(capsys, "run", "size.yaml", "--inline", "-q", "--json")
    assert (json.loads(done.out)["ended"], done.err) == ("done", "")


def test_what_a_trial_printed(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "show", "mixed", "1", "--output").out == "It has printed nothing.\n"
    needs = call(capsys, "show", "mixed", "--output")
    assert (needs.code, needs.err.splitlines()[-1]) == (
        2,
        "Error: Invalid value: --output needs the number of a trial",
    )


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
        ("show size", "no book in "),
        ("book --dir elsewhere", "no book in "),
        ("compare size/1 size/2", "no book in "),
        ("compare size/1 size", "'size' does not name a trial; write STUDY/TRIAL"),
        ("init train.py", "'train.py' does not name a training function; write FILE.py:FUNCTION"),
        ("init train.py:trian", "has no function 'trian'; did you mean 'train'?"),
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


@pytest.mark.parametrize("arguments", ["rn", "run", "run size.yaml --grace -1", "book --no"])
def test_a_wrong_command_line(
    toy: Path, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    done = call(capsys, *arguments.split())
    assert done.code == 2
    assert done.err.startswith("Usage: tunebook")


def test_unknown_studies_and_trials(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "show", "sise").err == (
        "Error: the book has no study 'sise'; did you mean 'size'?\n"
    )
    assert call(capsys, "show", "size", "9").err == (
        "Error: size has no trial 9; its trials are 1 to 4\n"
    )


def test_an_error_cannot_move_the_cursor(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "run", "\x1b[2J.yaml").err == (
        "Error: \\x1b[2J.yaml does not exist; `tunebook init` writes a study file\n"
    )


def test_windows_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert call(capsys, "book") == Done(
        1, "", "tunebook runs on Linux (and, untested, on macOS); on Windows use WSL.\n"
    )


@pytest.mark.parametrize("arguments", [["book"], ["show", "size", "--json"], ["--help"]])
def test_a_reader_that_leaves_early_is_no_error(book: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tunebook", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""


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
