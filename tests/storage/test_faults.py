"""Errors of SQLite say what to do."""

from __future__ import annotations

import errno
import re
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from tunebook.core.errors import StoreError, StoreFull
from tunebook.storage import faults
from tunebook.storage.faults import explain, explained, fault_name, is_io_error, no_room, refused

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
            "written. `tunebook recover --dir /somewhere` makes a new book of what can be read and "
            "of the attempts' spools",
        ),
        (
            "SQLITE_FULL",
            "no room for /somewhere/book.db: its disk has 7 bytes free. All "
            "that was acknowledged is kept; free some space and go on",
        ),
        (
            "SQLITE_BUSY_RECOVERY",
            "/somewhere/book.db is locked by another process. All that was acknowledged is kept; "
            "end that process, or let it finish",
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
    told = explain(name, BOOK)
    assert (None if told is None else re.sub(r"\d+ bytes", "7 bytes", str(told))) == expected


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"])
def test_a_full_disk_tells_its_free_bytes(tmp_path: Path, name: str) -> None:
    told = explain(name, tmp_path / "book.db")
    assert isinstance(told, StoreFull)
    assert re.search(r"no room for .*book.db: its disk has \d+ bytes free", str(told))


def test_a_disk_that_cannot_be_asked_has_an_unknown_number_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", _fail)
    assert "its disk has an unknown number of bytes free" in str(no_room(tmp_path / "book.db"))


def _fail(path: Path) -> None:
    raise OSError


def test_files_beside_the_book_are_told_of_too(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "file"
    assert isinstance(refused(path, OSError(errno.EDQUOT, "Quota exceeded")), StoreFull)
    assert str(refused(path, OSError(errno.EACCES, "Permission denied"))) == (
        f"cannot write {path}: Permission denied; check the disk and the permissions"
    )


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


def test_text_that_sqlite_repeats_and_nobody_can_read_is_damage() -> None:
    expected = "damaged or is not a book .its text is not UTF-8.; nothing was written. .tunebook"
    with pytest.raises(StoreError, match=expected), explained(BOOK):
        b"no such table: \xff".decode()


def test_the_folder_is_named_where_it_is_not_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUNEBOOK_DIR", raising=False)
    assert faults.recovery(Path(".tunebook/book.db")).startswith("`tunebook recover` makes")
    assert faults.option(Path("my books/book.db")) == f" --dir '{tmp_path}/my books'"
    monkeypatch.setenv("TUNEBOOK_DIR", "my books")
    assert faults.option(Path("my books/book.db")) == ""
