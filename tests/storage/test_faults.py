"""Errors of SQLite say what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from tunebook.core.errors import StoreError
from tunebook.storage.faults import explain, explained, fault_name, is_io_error

BOOK = Path("/somewhere/book.db")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "SQLITE_IOERR_FSYNC",
            "the disk failed while /somewhere/book.db was in use (SQLITE_IOERR_FSYNC); what was "
            "being written is not acknowledged, and nothing more is written. "
            "Check the disk, then run again",
        ),
        (
            "SQLITE_CORRUPT_INDEX",
            "/somewhere/book.db is damaged or is not a book (SQLITE_CORRUPT_INDEX); nothing was "
            "written. Copy the folder /somewhere before anything else: "
            "every result is also in the spools of its attempts",
        ),
        (
            "SQLITE_FULL",
            "no room for /somewhere/book.db: its disk has an unknown number of bytes free. All "
            "that was acknowledged is kept; free some space and go on",
        ),
        (
            "SQLITE_BUSY_RECOVERY",
            "/somewhere/book.db is locked by another process for too long; "
            "`fuser -v /somewhere/book.db` shows which. End it, then run again",
        ),
        (
            "SQLITE_CANTOPEN",
            "/somewhere/book.db cannot be opened or written (SQLITE_CANTOPEN); "
            "check the permissions and the owner of /somewhere",
        ),
        ("SQLITE_ERROR", None),
        ("", None),
    ],
)
def test_every_fault_is_told(name: str, expected: str | None) -> None:
    assert explain(name, BOOK) == expected


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"])
def test_a_full_disk_tells_its_free_bytes(tmp_path: Path, name: str) -> None:
    told = explain(name, tmp_path / "book.db")
    assert told is not None
    assert "no room" in told
    assert any(word.isdigit() for word in told.split())


def test_no_room_for_shared_memory_is_no_failure() -> None:
    assert is_io_error("SQLITE_IOERR_WRITE")
    assert not is_io_error("SQLITE_IOERR_SHMSIZE")
    assert not is_io_error("SQLITE_FULL")


def test_names_are_those_of_sqlite(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(tmp_path / "missing" / "book.db")
    assert fault_name(caught.value) == "SQLITE_CANTOPEN"
    wrapped = OperationalError("SELECT", {}, caught.value)
    assert fault_name(wrapped) == "SQLITE_CANTOPEN"
    assert fault_name(ValueError("not SQLite's")) == ""


def test_what_is_known_is_explained_and_the_rest_passes() -> None:
    error = sqlite3.DatabaseError("malformed")
    error.sqlite_errorname = "SQLITE_CORRUPT"
    with pytest.raises(StoreError, match="damaged") as caught, explained(BOOK):
        raise error
    assert caught.value.__cause__ is error
    with pytest.raises(sqlite3.DatabaseError, match="unknown"), explained(BOOK):
        raise sqlite3.DatabaseError("unknown")
