"""The demo, shortened and in full."""

from __future__ import annotations

import importlib.util
import json
from importlib import resources
from pathlib import Path

import pytest

from commandline import call
from tunebook import studyfile

PLACE = Path("tunebook-demo")


def original(name: str) -> str:
    return resources.files("tunebook.app").joinpath("demo_files", name).read_text()


def check_words(out: str) -> None:
    """What it prints fits a terminal and ends in the book, the report and the way on."""
    assert max(map(len, (line.rstrip() for line in out.splitlines()))) <= 80
    order = [
        "asks a question",
        "The book",
        "best       valid/error",
        "The report",
        "judged   best valid/error",
        "Best trials",
        "Wrote tunebook-demo/report.html",
        "Go on with: cd",
    ]
    places = [out.index(part) for part in order]
    assert places == sorted(places)


def test_a_short_demo_and_a_second_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    PLACE.mkdir()
    short = original("model.yaml").replace("max_steps: 1500", "max_steps: 30")
    (PLACE / "model.yaml").write_text(short)
    first = call(capsys, "demo", "--trials", "1")
    assert first.code == 0
    check_words(first.out)
    assert "model: 0 of 2 trials done" in first.err
    assert (PLACE / "model.yaml").read_text() == short
    assert (PLACE / "report.html").read_text().startswith("<!DOCTYPE html>")
    second = call(capsys, "demo", "--trials", "1")
    assert (second.code, second.out) == (0, first.out)
    assert second.err.splitlines()[0].startswith("model: 2 of 2 trials done")
    assert call(capsys, "demo", "--trials", "1", "--quiet").out == ""


def test_what_it_needs_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        done = call(capsys, "demo")
    assert (done.code, done.err) == (
        1,
        "Error: the demo needs torch and safetensors and mnist1d: pip install 'tunebook[demo]'\n",
    )
    assert not PLACE.exists()


def test_its_study_says_what_the_command_does() -> None:
    study = studyfile.parse(original("model.yaml"))
    assert study.trials == 15
    assert [str(setting) for setting in study.space.settings()] == ["model=mlp", "model=cnn"]


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_the_whole_demo(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "demo")
    assert done.code == 0
    check_words(done.out)
    shown = call(capsys, "show", "model", "--dir", PLACE / ".tunebook", "--json")
    plain, convolutional = json.loads(shown.out)["settings"]
    assert sum(plain["outcomes"].values()) == sum(convolutional["outcomes"].values()) == 15
    assert convolutional["best"]["value"] < 0.2 < plain["best"]["value"] < 0.5
