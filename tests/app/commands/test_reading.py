"""`tunebook show`, `compare` and `book`, as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import call


def test_what_a_trial_printed(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "show", "mixed", "1", "--output").out == "It has printed nothing.\n"
    needs = call(capsys, "show", "mixed", "--output")
    assert (needs.code, needs.err.splitlines()[-1]) == (
        2,
        "Error: Invalid value: --output needs the number of a trial",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("show size", "no book in "),
        ("book --dir elsewhere", "no book in "),
        ("compare size/1 size/2", "no book in "),
        ("compare size/1 size", "'size' does not name a trial; write STUDY/TRIAL"),
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


def test_unknown_studies_and_trials(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "show", "sise").err == (
        "Error: the book has no study 'sise'; did you mean 'size'?\n"
    )
    assert call(capsys, "show", "size", "9").err == (
        "Error: size has no trial 9; its trials are 1 to 4\n"
    )
