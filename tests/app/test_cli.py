"""The command line, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from commandline import Done, call, write_study
from snapshots import check_snapshot
from test_imports import HEAVY, loaded_by
from tunebook import __version__
from tunebook.app import cli, places

# Mappings from names that users choose, not from names that we do.
CHOSEN = {"fixed", "outcomes", "params", "setting", "metrics", "differences", "equal", "numbers"}
KINDS = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "text"}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its name, and those of a group after it."""
    group: Any = get_command(cli.app)
    yield "", group
    for name, command in sorted(group.commands.items()):
        yield name, command
        for inner, one in sorted(getattr(command, "commands", {}).items()):
            yield f"{name} {inner}", one


def flags() -> Iterator[str]:
    """A line for each argument and option of each command."""
    for name, command in commands():
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
        *shapes(["probe", "variance", "size.yaml", "--seeds", "2", "--json"]),
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
    assert overview.code == 0
    assert "..." not in overview.out.partition("Commands:")[2]
    for name, _ in commands():
        if not name:
            continue
        shown = call(capsys, *name.split(), "-h").out
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
    elsewhere = call(capsys, "run", "train.yaml", "--trials", "1", "--inline", "--dir", "a book")
    assert elsewhere.out.splitlines()[-1] == (
        "More: tunebook show train 1 --dir 'a book'; tunebook book --dir 'a book'"
    )
    assert call(capsys, "show", "train", "1").out == call(capsys, "show", "train/1").out
    assert call(capsys, "show", "train", "--file").out.startswith("study: train\n")
    assert "train/1" in call(capsys, "compare", "train/1", "train/2").out
    assert "tunebook run train.yaml --trials 2" in call(capsys, "book").out


@pytest.mark.parametrize("arguments", ["rn", "run", "run size.yaml --grace -1", "book --no"])
def test_a_wrong_command_line(
    toy: Path, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    done = call(capsys, *arguments.split())
    assert done.code == 2
    assert done.err.startswith("Usage: tunebook")


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


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments", [["book"], ["export", "size"], ["show", "size", "--json"], ["--help"]]
)
def test_an_output_that_cannot_be_written_is_told(
    book: Path, arguments: list[str], unbuffered: str
) -> None:
    command = [sys.executable, "-m", "tunebook", *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert done.stderr == "Error: cannot write the output: No space left on device\n"
    assert done.returncode == 1


def test_an_interrupted_command_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(places, "book_folder", interrupted)
    done = call(capsys, "book")
    assert (done.code, done.err) == (130, "Interrupted.\n")
