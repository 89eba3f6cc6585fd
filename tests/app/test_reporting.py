"""Reports on studies of a book, from the command line and from Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import tunebook
from commandline import call, end, interrupt, start, wait_until, write_study
from reported import by_hand, compared
from tunebook.app import cli, reporting
from tunebook.storage.sqlite import open_store


@pytest.fixture
def book(toy: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A book with `size`, of four trials, and then `more`, of two, which logs a loss too."""
    assert call(capsys, "run", "size.yaml", "--inline", "-q").code == 0
    (toy / "more.py").write_text(
        "def train(run):\n"
        "    for step in range(5):\n"
        "        run.log({'valid/error': run['x'] / (1 + step), 'margin': step}, step=step)\n"
    )
    (toy / "more.yaml").write_text(
        "study: more\nprogram: more.py:train\nobjective: {metric: valid/error, better: lower}\n"
        "nuisance: {x: {linear: [0.1, 1]}}\ntrials: 2\n"
    )
    assert call(capsys, "run", "more.yaml", "--inline", "-q").code == 0
    return toy


def test_on_a_terminal(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "report", "size")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line.rstrip() for line in lines[:4]] == [
        "size",
        "Is the big model better?",
        "judged   best valid/error, lower is better",
        "trials   4 trials ended: 4 complete",
    ]
    assert max(map(len, (line.rstrip() for line in lines))) <= 80
    assert "More:  tunebook report size --html report.html" in [line.rstrip() for line in lines]


def test_the_latest_study_unless_one_is_named(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "report").out.startswith("more\n")


def test_files(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(
        capsys, "report", "size", "--html", "r/report.html", "--markdown", "r/report.md",
        "--pictures", "r/pictures",
    )  # fmt: skip
    page, document = Path("r/report.html"), Path("r/report.md")
    drawn = sorted(path.name for path in Path("r/pictures").iterdir())
    size = len(page.read_bytes()) / 1000
    assert (done.code, done.out.splitlines()) == (
        0,
        [
            f"Wrote r/report.html ({size:,.0f} kB): open it in a browser.",
            f"Wrote {len(drawn)} pictures into r/pictures.",
            "Wrote r/report.md.",
        ],
    )
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "axes.svg" in drawn
    assert all(f"(<pictures/{name}>)" in document.read_text() for name in drawn)


def test_markdown_and_json_on_standard_output(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = call(capsys, "report", "size", "--markdown", "-")
    assert printed.out.startswith("# Report on size\n")
    assert not Path("-").exists()
    both = call(capsys, "report", "size", "--json", "--html", "report.html")
    assert json.loads(both.out)["study"] == "size"
    assert both.err.startswith("Wrote report.html (")


def test_another_objective(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(call(capsys, "report", "--objective", "margin:higher:last", "--json").out)
    assert data["objective"]["metric"] == "margin"
    assert (data["objective"]["better"], data["objective"]["reduction"]) == ("higher", "last")
    assert [row["value"] for row in data["best"]] == [4, 4]


def test_two_studies(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "report", "size", "--compare", "more")
    assert "Compared with more" in done.out
    data = json.loads(call(capsys, "report", "size", "--compare", "more", "--json").out)
    assert data["comparison"]["other"]["study"] == "more"


def test_a_study_that_is_running(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(here, pause=0.5)
    process = start(here, "run", "size.yaml", "--workers", "1", "--quiet")
    wait_until(lambda: "running" in call(capsys, "show", "size", "--json").out)
    data = json.loads(call(capsys, "report", "size", "--json").out)
    assert (data["state"], data["outcomes"]["running"]) == ("running", 1)
    assert "The study is running (1 trial now)" in call(capsys, "report", "size").out
    interrupt(process)
    assert end(process).code == 130
    assert json.loads(call(capsys, "report", "size", "--json").out)["state"] == "unfinished"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("sise", "the book has no study 'sise'; did you mean 'size'?"),
        ("size --compare mroe", "the book has no study 'mroe'; did you mean 'more'?"),
        ("size --compare size", "size cannot be compared with itself; name another study"),
        (
            "size --objective valid/eror",
            "no trial of size has logged 'valid/eror'; did you mean 'valid/error'? "
            "It has logged: valid/error",
        ),
        (
            "more --objective margin",
            "which way is margin better? Write margin:lower or margin:higher",
        ),
        (
            "more --objective margin:lower --compare size",
            "size has not logged margin, by which both would be judged; choose with --objective "
            "what both have logged. It has logged: valid/error",
        ),
        ("size --html train.py/report.html", "cannot write train.py/report.html: File exists"),
    ],
)
def test_a_mistake_is_told(
    book: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    done = call(capsys, "report", *arguments.split())
    assert (done.code, done.out, done.err) == (1, "", f"Error: {message}\n")


def test_a_book_without_a_study(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no book in " in call(capsys, "report").err
    with open_store(Path(".tunebook")):
        pass
    assert call(capsys, "report").err == (
        "Error: the book in .tunebook has no study yet; tunebook run begins one\n"
    )


def test_from_python(book: Path) -> None:
    report = tunebook.report_on("more", objective="last", compare="size")
    assert repr(report).startswith("Report(more, ")
    assert str(report).startswith("more\n")
    assert report.objective.reduction == "last"
    assert report.version == tunebook.__version__
    assert report.made is not None
    again = tunebook.report_on(tunebook.load("more"))
    assert (again.study.name, again.comparison) == ("more", None)


def test_many_trials_are_announced_to_who_waits(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    monkeypatch.setattr(reporting, "_MANY", 3)
    reporting.on_book("size", Path(".tunebook"), notice=said.append)
    assert said == ["Looking at 4 trials."]
    cli._note("Looking.")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    cli._note("Looking.")
    assert capsys.readouterr().err == "Looking.\n"


def test_what_is_not_asked_for_is_not_written(here: Path) -> None:
    assert reporting.write(by_hand()) == []
    assert list(here.iterdir()) == []
    assert reporting.write(compared(), pictures=Path("p")) == ["Wrote 3 pictures into p."]
