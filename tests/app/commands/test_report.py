"""`tunebook report`, as a user meets it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from commandline import call, end, interrupt, start, wait_until, write_study
from tunebook.storage.sqlite import open_store


def test_on_a_terminal(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_further_commands_find_the_same_book(
    pair: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(".tunebook").rename("a book")
    done = call(capsys, "report", "size", "--dir", "a book")
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert "More:  tunebook report size --html report.html --dir 'a book'" in lines
    (shown,) = (line.strip() for line in lines if "tunebook show" in line)
    assert shown.endswith("--dir 'a book'")
    assert call(capsys, *shlex.split(shown)[1:]).code == 0


def test_the_latest_study_unless_one_is_named(
    pair: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "report").out.startswith("more\n")


def test_files(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    pair: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = call(capsys, "report", "size", "--markdown", "-")
    assert printed.out.startswith("# Report on size\n")
    assert not Path("-").exists()
    both = call(capsys, "report", "size", "--json", "--html", "report.html")
    assert json.loads(both.out)["study"] == "size"
    assert both.err.startswith("Wrote report.html (")


def test_another_objective(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(call(capsys, "report", "--objective", "margin:higher:last", "--json").out)
    assert data["objective"]["metric"] == "margin"
    assert (data["objective"]["better"], data["objective"]["reduction"]) == ("higher", "last")
    assert [row["value"] for row in data["best"]] == [4, 4]


def test_two_studies(pair: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    pair: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
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
