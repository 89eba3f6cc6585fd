"""`tunebook init`, as a user meets it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commandline import Done, call


def test_a_script_is_asked_for_its_options(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("fit.py").write_text(
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--kind', required=True)\n"
        "parser.add_argument('--lr', type=float, default=0.1)\n"
        "parser.add_argument('--data')\n"
        "parser.parse_args()\n"
    )
    done = call(capsys, "init", "--study", "first", "--", sys.executable, "fit.py", "--data", "x")
    assert done == Done(
        0,
        f"Wrote first.yaml, with the options of the command: {sys.executable} fit.py --data x.\n"
        "These have no value yet; write one into the file: kind\n"
        "Its metrics were not found: fill in `metrics` and `objective`.\n"
        "Read it, then: tunebook run first.yaml\n",
        "",
    )
    assert "  lr: {log: [0.0033, 3.0]}" in Path("first.yaml").read_text()
    again = call(capsys, "init", "--study", "first", "--", sys.executable, "fit.py")
    assert again.err == (
        "Error: first.yaml exists; choose another with --output, or replace it by --force\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("init train.py:trian", "has no function 'trian'; did you mean 'train'?"),
        ("init trian.py", "there is no file 'trian.py' here"),
        ("init size.yaml", "'size.yaml' is not executable; name what runs it: tunebook init -- b"),
        ("init -- no-such-program train.py", "there is no program 'no-such-program' on the PATH"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    toy: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    done = call(capsys, *arguments.split())
    assert done.code == 1
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err


def test_arguments_without_a_name_are_asked_for(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("fit.py").write_text(
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('data')\n"
        "parser.add_argument('--lr', type=float, default=0.1)\n"
        "parser.parse_args()\n"
    )
    done = call(capsys, "init", "--", sys.executable, "fit.py")
    assert "These have no value yet; write one into the file: data\n" in done.out
    note = "  # - ...  # data: the program needs this argument; write it here\n"
    assert note in Path("fit.yaml").read_text()


def test_a_script_without_options_gets_a_skeleton(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("fit.sh").write_text("echo $LR\n")
    done = call(capsys, "init", "--", "sh", "fit.sh")
    assert done.code == 0
    assert done.out.splitlines()[0] == (
        "Wrote fit.yaml, to be filled in, since this names no options: sh fit.sh."
    )
    text = Path("fit.yaml").read_text()
    assert "\noverrides: environment\n" in text
    assert "\n  # lr: {log: [3.3e-5, 0.03]}" in text


def test_a_note_of_defaults_goes_to_the_error_stream(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("fit.py").write_text("def train(run, lr=0.1):\n    return run['wd']\n")
    done = call(capsys, "init", "fit.py:train")
    assert done.err == (
        "Note: fit.py:train is called with the run alone: the defaults in its signature stay in "
        "force (lr=0.1). To make one a parameter, read run['lr'] in the function, and take the '#' "
        "from its line in the file.\n"
    )
    assert "Note" not in done.out


def test_a_file_with_a_function_is_enough(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "init", "train.py")
    assert done.out.splitlines()[0] == (
        "Wrote train.yaml, with the parameters and metrics that train.py:train names."
    )
