"""Row 45: secrets in the environment, in arguments and in configurations are written nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

import tunebook
from commandline import call
from faults.bench import Bench
from tunebook.core.errors import StudyError
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Study
from tunebook.storage.sqlite import open_store

SECRET = "planted-0123456789abcdef"
VARIABLES = ("PLANTED_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY")
# Errors of libraries quote addresses and headers; here they quote all there is.
PROGRAM = """
    import os

    def train(run):
        token = os.environ["PLANTED_TOKEN"]
        assert token.startswith("planted-")
        run.log({"error": run["x"]}, step=0)
        if run.attempt.trial.number == 1:
            raise RuntimeError(f"401 Unauthorized: https://api?token={token}")
        if run.attempt.trial.number == 2:
            run.infeasible(f"not allowed with {token}")
    """
# What it prints is its own, and stays in its log; but its last words become the reason.
SCRIPT = """
    import os, sys

    token = os.environ["PLANTED_TOKEN"]
    assert token.startswith("planted-")
    print("error", sys.argv[1], "with", token, flush=True)
    if sys.argv[2] == "b":
        sys.exit(f"401 Unauthorized: https://api?token={token}")
    """
TRACKED = """
    import sys
    import tunebook

    assert sys.argv[2:] == ["--lr", "0.1", "--password", "planted-0123456789abcdef"]
    config = {"lr": 0.1, "hub": {"api_key": "planted-0123456789abcdef"}}
    run = tunebook.init("tracked", config)
    run.log({"loss": 1.0})
    run.finish()
    """


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, SECRET)


def holding(bench: Bench) -> list[Path]:
    """The files of the book in which the secret stands."""
    files = [path for path in (bench.folder / "book").rglob("*") if path.is_file()]
    assert any(path.name == "book.db" for path in files)
    assert any(path.name == "attempt.json" for path in files)
    return [path for path in files if SECRET.encode() in path.read_bytes()]


def check_nothing_is_shown(
    bench: Bench, capsys: pytest.CaptureFixture[str], study: str = "depth"
) -> None:
    book, place = bench.folder / "book", bench.folder
    for arguments in (
        ("show", study, "--json"),
        ("show", study, "--file"),
        ("show", study, "1"),
        ("show", study, "1", "--json"),
        ("report", study),
        ("report", study, "--html", place / "report.html"),
        ("book", "--json"),
        *(
            ("export", study, "--what", what, "-o", place / f"{what}.{kind}")
            for what in ("trials", "curves")
            for kind in ("csv", "json", "parquet")
        ),
    ):
        done = call(capsys, *arguments, "--dir", book)
        assert done.code == 0, (arguments, done.err)
        assert SECRET not in done.out + done.err, arguments
    written = [place / "report.html", *place.glob("trials.*"), *place.glob("curves.*")]
    assert len(written) == 7
    for path in written:
        assert SECRET.encode() not in path.read_bytes(), path
    # In a Parquet file a text may be compressed.
    for what in ("trials", "curves"):
        table = pyarrow.parquet.read_table(place / f"{what}.parquet")
        assert table.num_rows > 0
        assert SECRET not in str(table.to_pydict())


def test_row_45_the_environment(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write_program(PROGRAM)
    bench.write_study()
    done = bench.run_study("--workers", "2")
    assert "401 Unauthorized: https://api?token=***" in done.err
    assert SECRET not in done.out + done.err
    results = bench.results()
    assert results.counts() == {"failed": 1, "infeasible": 1, "complete": 2}
    assert results[2].outcome is not None
    assert results[2].outcome.reason == "not allowed with ***"
    assert holding(bench) == []
    check_nothing_is_shown(bench, capsys)


def test_row_45_the_environment_of_a_command(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.write_program(SCRIPT)
    bench.write_study(
        trials=1,
        command=[sys.executable, "train.py", "{x}", "{arm}"],
        metrics={"pattern": r"^error (?P<error>\S+)"},
    )
    done = bench.run_study("--workers", "2")
    assert "after it said '401 Unauthorized: https://api?token=***'" in done.err
    assert SECRET not in done.out + done.err
    results = bench.results()
    assert results.counts() == {"complete": 1, "failed": 1}
    assert {path.name for path in holding(bench)} == {"log.txt"}
    failed = results[2].outcome
    assert failed is not None
    assert "token=***" in failed.detail
    check_nothing_is_shown(bench, capsys)


def test_row_45_a_script_that_tracks_itself(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.write_program(TRACKED)
    arguments = ["--quiet", "--lr", "0.1", "--password", SECRET]
    subprocess.run(
        [sys.executable, "train.py", *arguments],
        cwd=bench.folder,
        env={**bench.mark.environment, "TUNEBOOK_DIR": str(bench.folder / "book")},
        check=True,
    )
    (record,) = bench.results("tracked")
    assert record.trial.config == {"lr": 0.1, "hub.api_key": "***"}
    (note,) = record.attempts[0].notes
    assert note == "called as python train.py --quiet --lr 0.1 --password '***'"
    assert holding(bench) == []
    check_nothing_is_shown(bench, capsys, "tracked")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"fixed": {"api_key": SECRET}}, "fixed.api_key"),
        ({"fixed": {"hub_token": SECRET}}, "fixed.hub_token"),
        ({"baseline": {"hub_token": SECRET}}, "baseline.hub_token"),
        ({"command": ["sh", "a", "{x}", "{arm}", f"--api-key={SECRET}"]}, "command[4]"),
        ({"command": ["sh", "a", "{x}", "{arm}", "--token", SECRET]}, "command[5]"),
    ],
)
def test_row_45_a_study_that_holds_one_is_refused(
    bench: Bench, changes: dict[str, object], line: str
) -> None:
    bench.write_program(PROGRAM)
    bench.write_study(**changes)
    done = bench.run_study()
    assert done.code == 1
    assert done.err.startswith("Error: study.yaml:")
    assert f": {line}: " in done.err
    assert "this looks like a secret" in done.err
    assert "let the program read it from its environment" in done.err
    assert SECRET not in done.err
    assert not Path(bench.folder, "book", "book.db").exists()


HOLDING = Study("old", Space.of(fixed={"api_key": SECRET}), Objective(Metric("error")))


def test_row_45_a_study_from_python_that_holds_one_is_refused(tmp_path: Path) -> None:
    def train(_: tunebook.Run) -> None:
        raise AssertionError

    for ask in (tunebook.run, lambda *a, **k: tunebook.probe("noise", *a, **k)):
        with pytest.raises(
            StudyError, match=r"^fixed\.api_key: this looks like a secret, "
        ) as told:
            ask(HOLDING, train, folder=tmp_path / "book", quiet=True)
        assert SECRET not in str(told.value)
    assert not (tmp_path / "book").exists()


def test_row_45_one_that_is_in_a_book_already_is_read(bench: Bench) -> None:
    with open_store(bench.folder / "book") as store:
        store.create(HOLDING)
    assert bench.results("old").study == HOLDING
    done = bench.run("show", "old")
    assert done.code == 0, done.err
