"""How commands print, and the codes they end with."""

from __future__ import annotations

import json
import sys

import pytest

from tunebook.app.commands import printing
from tunebook.running.loop import Ending


def test_someone_at_a_terminal_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printing.note("Looking.")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    printing.note("Looking.")
    assert capsys.readouterr().err == "Looking.\n"


def test_data_for_machines_and_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"trials": 2}
    printing.present(data, lambda shown: f"{shown['trials']} trials", True)
    assert json.loads(capsys.readouterr().out) == data
    printing.present(data, lambda shown: f"{shown['trials']} trials", False)
    assert capsys.readouterr().out == "2 trials\n"
    with pytest.raises(ValueError, match="JSON compliant"):
        printing.print_json({"value": float("nan")})


@pytest.mark.parametrize(
    ("ending", "word", "code"),
    [
        (Ending(), "done", 0),
        (Ending(paused="5 trials failed"), "paused", 3),
        (Ending(interrupted=True), "interrupted", 130),
    ],
)
def test_how_a_run_ended(ending: Ending, word: str, code: int) -> None:
    assert (printing.word(ending), printing.exit_code(ending)) == (word, code)
