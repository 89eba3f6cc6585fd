"""`tunebook export`, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from commandline import Done, call


def test_each_format_says_the_same(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(call(capsys, "show", "size", "--json").out)["best"]
    for name in ("trials.csv", "trials.parquet", "trials.json"):
        done = call(capsys, "export", "size", "-o", name)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"Wrote {name}: 4 trials (")
    rows = json.loads(Path("trials.json").read_text())["trials"]
    for frame in (pandas.read_csv("trials.csv"), pandas.read_parquet("trials.parquet")):
        assert frame["trial"].tolist() == [1, 2, 3, 4]
        for best in shown:
            row = frame.set_index("trial").loc[best["trial"]]
            assert row["value"] == best["value"] == rows[best["trial"] - 1]["value"]
            assert row["params.model"] == best["params"]["model"]


def test_on_standard_output(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = call(capsys, "export", "size")
    assert first.out.startswith("study,trial,setting,status,")
    assert call(capsys, "export", "size", "-o", "-", "--format", "csv") == first
    assert json.loads(call(capsys, "export", "mixed", "--format", "json").out)["version"] == 1
    curves = call(capsys, "export", "size", "--what", "curves").out.splitlines()
    assert (curves[0], len(curves)) == ("trial,metric,step,value,seconds", 41)
    assert not Path("-").exists()


def test_values_that_are_no_numbers(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(capsys, "export", "mixed", "-o", "mixed.csv", "--what", "curves")
    frame = pandas.read_csv("mixed.csv")
    assert frame[frame["metric"] == "nan"]["value"].dtype == float


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("sise", "the book has no study 'sise'; did you mean 'size'?"),
        ("size --format cvs", "there is no format 'cvs'; did you mean 'csv'?"),
        ("size -o a.xlsx", "the name 'a.xlsx' tells no format; add --format csv, parquet or json"),
        (
            "size -o old.csv",
            "old.csv exists; choose another with --output, or replace it by --force",
        ),
        ("size -o folder.csv --force", "folder.csv is a folder; name a file in it"),
        ("size --what trial", "cannot export 'trial'; did you mean 'trials'?"),
        ("size -o .", ". is a folder; name a file in it"),
        ("size -o a.json --raw", "--raw is for CSV; json keeps text as it is, so leave it out"),
    ],
)
def test_a_mistake_is_told(
    book: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    Path("old.csv").write_text("old")
    Path("folder.csv").mkdir()
    assert call(capsys, "export", *arguments.split()) == Done(1, "", f"Error: {message}\n")
    assert Path("old.csv").read_text() == "old"


def test_parquet_is_not_for_a_terminal(
    book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert call(capsys, "export", "size", "--format", "parquet").err == (
        "Error: Parquet is no text for a terminal; write it to a file: --output FILE.parquet\n"
    )


def test_a_reader_that_leaves_early_is_no_error(book: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tunebook", "export", "size"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""


def test_a_folder_that_is_missing_is_not_made(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, "export", "size", "-o", "new/trials.csv")
    assert done.code == 1
    assert done.err == (
        f"Error: there is no folder {Path.cwd()}/new; make it first, or choose another FILE\n"
    )
    assert not Path("new").exists()


def test_a_device_gets_csv(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "export", "size", "-o", "/dev/null").out == "Wrote /dev/null: 4 trials.\n"
