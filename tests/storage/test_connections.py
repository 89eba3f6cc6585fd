"""The file of a book: made as a whole, opened as told."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from contracts import oracle
from tunebook.storage import connections
from tunebook.storage.connections import create_book, durable, open_engine, relaxed
from tunebook.storage.schema import read_version


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.db"
    create_book(path, 1)
    return path


def test_a_book_is_made_as_a_whole(book: Path) -> None:
    assert [path.name for path in book.parent.iterdir()] == ["book.db"]
    with closing(sqlite3.connect(book)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA page_size").fetchone() == (connections.PAGE_BYTES,)
        assert connection.execute("SELECT name, value FROM meta").fetchall() == [("schema", 1)]


def test_a_book_that_exists_stays(book: Path) -> None:
    create_book(book, 2)
    with open_engine(book, readonly=True).begin() as connection:
        assert read_version(connection) == 1
    assert not list(book.parent.glob(".*"))


def test_a_book_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no more")

    monkeypatch.setattr(connections, "create_tables", fail)
    with pytest.raises(OSError, match="no more"):
        create_book(tmp_path / "book.db", 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_row_6_a_disk_that_fills_leaves_a_whole_book_or_none(tmp_path: Path) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    script = "import sys, pathlib, tunebook.storage.connections as c;"
    script += "c.create_book(pathlib.Path(sys.argv[1]), 1)"
    outcomes = set()
    for when in range(1, 200):
        book = tmp_path / str(when) / "book.db"
        book.parent.mkdir()
        inject = ["-e", "trace=pwrite64", "-e", f"inject=pwrite64:error=ENOSPC:when={when}"]
        command = [strace, "-o", tmp_path / "trace", *inject, sys.executable, "-c", script, book]
        done = subprocess.run(command, capture_output=True, check=False)
        if b"INJECTED" not in (tmp_path / "trace").read_bytes():
            break
        outcomes.add((done.returncode, book.exists()))
        assert {path.name for path in book.parent.iterdir()} <= {"book.db"}
        if book.exists():
            oracle.check(book.parent)
    assert when > 20
    assert (1, False) in outcomes
    assert outcomes <= {(1, False), (0, True)}


def test_any_folder_will_do(tmp_path: Path) -> None:
    book = tmp_path / "a b?mode=memory#%20é" / "book.db"
    book.parent.mkdir()
    create_book(book, 1)
    engine = open_engine(book, readonly=True)
    with engine.begin() as connection:
        assert read_version(connection) == 1


def test_opening_makes_no_file(tmp_path: Path) -> None:
    for readonly in (False, True):
        engine = open_engine(tmp_path / "book.db", readonly=readonly)
        with pytest.raises(OperationalError, match="unable to open"):
            engine.connect()
    assert list(tmp_path.iterdir()) == []


def test_transactions_begin_as_told(book: Path) -> None:
    engine = open_engine(book, readonly=False)
    for chosen, synchronous in ((durable(engine), 2), (relaxed(engine), 1)):
        with chosen.begin() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == synchronous
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
            with closing(sqlite3.connect(book, timeout=0, isolation_level=None)) as other:
                with pytest.raises(sqlite3.OperationalError, match="locked"):
                    other.execute("BEGIN IMMEDIATE")
                assert other.execute("SELECT count(*) FROM meta").fetchone() == (1,)
    engine.dispose()


def test_a_transaction_is_one_moment(book: Path) -> None:
    engine = open_engine(book, readonly=False)
    reader = open_engine(book, readonly=True)
    with reader.begin() as reading:
        assert read_version(reading) == 1
        with durable(engine).begin() as writing:
            writing.exec_driver_sql("UPDATE meta SET value = 7")
        assert read_version(reading) == 1
    with reader.begin() as reading:
        assert read_version(reading) == 7
    engine.dispose()


def test_a_failed_transaction_leaves_nothing(book: Path) -> None:
    engine = open_engine(book, readonly=False)
    with pytest.raises(RuntimeError), durable(engine).begin() as writing:
        writing.exec_driver_sql("CREATE TABLE half (a)")
        raise RuntimeError
    with engine.begin() as reading:
        tables = reading.exec_driver_sql("SELECT name FROM sqlite_master").scalars()
        assert "half" not in set(tables)
    engine.dispose()


def test_a_reader_cannot_write(book: Path) -> None:
    engine = open_engine(book, readonly=True)
    with pytest.raises(OperationalError, match="readonly"), engine.begin() as connection:
        connection.exec_driver_sql("UPDATE meta SET value = 7")


def test_a_reader_holds_nothing_between_two_reads(book: Path) -> None:
    engine = open_engine(book, readonly=True)
    with engine.begin() as connection:
        read_version(connection)
    assert not [link for link in _open_files() if link.startswith(str(book))]


def _open_files() -> list[str]:
    folder = Path("/proc/self/fd")
    return [os.readlink(link) for link in folder.iterdir() if link.is_symlink()]
