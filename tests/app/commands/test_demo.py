"""`tunebook demo`, as a user meets it; `tests/app/test_demo.py` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import Done, call
from tunebook.app import demo
from tunebook.running.loop import Ending


def test_it_ends_as_its_run_does(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []

    def run_demo(folder: Path, trials: int, *, quiet: bool) -> Ending:
        asked.append((folder, trials, quiet))
        return Ending(interrupted=True)

    monkeypatch.setattr(demo, "run_demo", run_demo)
    assert call(capsys, "demo") == Done(130, "", "")
    assert call(capsys, "demo", "--trials", "3", "--dir", "there", "-q").code == 130
    assert asked == [(Path("tunebook-demo"), 15, False), (Path("there"), 3, True)]
