"""Row 9: a book that another process has locked is waited for, and the process is named."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.harness import Siege, until

HOLD = """
import sqlite3, sys
book = sqlite3.connect(sys.argv[1], isolation_level=None)
book.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(book: Path) -> Iterator[int]:
    """Another process has the book while the block runs."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(book)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
        process.stdin.close()


def wait_through(folder: Path, seconds: float) -> None:
    with Siege(folder / "siege", trials=3) as siege:
        process = siege.start()
        until(lambda: siege.starts(), "a trial begins")
        with locked(siege.book / "book.db") as holder:
            until(lambda: "Paused: " in siege.lines.read_text(), "the study pauses")
            time.sleep(seconds)
            said = siege.lines.read_text()
            assert said.count("Paused: ") == 1
            assert f"book.db is locked by process {holder} (" in said
            assert process.poll() is None
        siege.wait_for(process)
        results = siege.check()
        assert {len(record.attempts) for record in results} == {1}


def test_row_9_a_study_waits_and_goes_on(tmp_path: Path) -> None:
    wait_through(tmp_path, 1.0)


@pytest.mark.long
def test_row_9_a_study_waits_for_a_minute(tmp_path: Path) -> None:
    wait_through(tmp_path, 60.0)


def test_row_9_a_lock_that_stays_is_an_error_that_names_its_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTS_LOCKED_SECONDS", "0.5")
    with Siege(tmp_path / "siege", trials=3) as siege:
        process = siege.start()
        until(lambda: siege.starts(), "a trial begins")
        with locked(siege.book / "book.db") as holder:
            assert process.wait(timeout=60) == 1
        said = siege.lines.read_text()
        assert f"book.db is locked by process {holder} (" in said.partition("Error: ")[2]
        assert "then run again: it has been locked for" in said
        siege.check_book()
        siege.finish()
        siege.check()
