"""Reports on studies of a book, from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import tunebook
from reported import by_hand, compared
from tunebook.app import reporting


def test_from_python(pair: Path) -> None:
    report = tunebook.report_on("more", objective="last", compare="size")
    assert repr(report).startswith("Report(more, ")
    assert str(report).startswith("more\n")
    assert report.objective.reduction == "last"
    assert report.version == tunebook.__version__
    assert report.made is not None
    again = tunebook.report_on(tunebook.load("more"))
    assert (again.study.name, again.comparison) == ("more", None)


def test_many_trials_are_announced_to_who_waits(
    pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(reporting, "_MANY", 3)
    reporting.on_book("size", Path(".tunebook"), notice=said.append)
    assert said == ["Looking at 4 trials."]


def test_what_is_not_asked_for_is_not_written(here: Path) -> None:
    assert reporting.write(by_hand()) == []
    assert list(here.iterdir()) == []
    assert reporting.write(compared(), pictures=Path("p")) == ["Wrote 3 pictures into p."]
