"""Whoever holds a book is named by the kernel's table of locks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tunebook.storage import holders
from tunebook.storage.holders import holder
from tunebook.storage.sqlite import open_store

HOLD = """
import sqlite3, sys
book = sqlite3.connect(sys.argv[1], isolation_level=None)
book.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    open_store(tmp_path).close()
    return tmp_path / "book.db"


@contextmanager
def held(book: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(book), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.communicate()


def test_another_process_is_named_with_its_command(book: Path) -> None:
    with held(book) as process:
        assert holder(book).startswith(f"process {process.pid} ({sys.executable} -c")


def test_the_secrets_of_a_command_are_not_shown(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holders, "_LONGEST_COMMAND", 10_000)
    with held(book, "--api-key", "hunter2", "--token=0123456789abcdef"):
        assert holder(book).endswith(f"{book} --api-key *** --token=***)")


def test_where_nobody_is_seen_nobody_is_named(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert holder(book) == "another process"
    assert holder(tmp_path / "missing.db") == "another process"
    monkeypatch.setattr(holders, "_LOCKS", tmp_path / "none")
    assert holder(book) == "another process"


def test_a_process_that_has_ended_meanwhile_and_this_one(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inode = book.stat().st_ino
    locks = tmp_path / "locks"
    locks.write_text(
        f"1: POSIX  ADVISORY  WRITE {os.getpid()} fe:00:{inode} 120 120\n"
        f"2: POSIX  ADVISORY  READ 1 fe:00:{inode} 124 124\n"
        f"3: POSIX  ADVISORY  WRITE 99999999 fe:00:{inode} 120 120\n"
        f"3: -> POSIX  ADVISORY  WRITE 1 fe:00:{inode} 120 120\n"
    )
    monkeypatch.setattr(holders, "_LOCKS", locks)
    assert holder(book) == "process 99999999 (its command is not known)"
