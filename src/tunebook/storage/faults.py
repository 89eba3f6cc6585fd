"""SQLite's errors in the words of a person who can do something about them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from tunebook.core.errors import StoreError


@contextmanager
def explained(book: Path) -> Iterator[None]:
    """Turn what can go wrong with the file of a book into `StoreError`; bugs pass unchanged."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        message = explain(fault_name(error), book)
        if message is None:
            raise
        raise StoreError(message) from error


def fault_name(error: BaseException) -> str:
    """SQLite's own name of an error, such as `SQLITE_BUSY`."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    return getattr(origin, "sqlite_errorname", "")


def is_io_error(name: str) -> bool:
    """Whether the disk failed. (No room for the shared memory file is a full disk, not a fault.)"""
    return name.startswith("SQLITE_IOERR") and name != "SQLITE_IOERR_SHMSIZE"


def explain(name: str, book: Path) -> str | None:
    """What happened to the book and what to do, or None if the error is not of this kind."""
    if is_io_error(name):
        return (
            f"the disk failed while {book} was in use ({name}); what was being written is not "
            "acknowledged, and nothing more is written. Check the disk, then run again"
        )
    match name.split("_")[1:2]:
        case ["CORRUPT" | "NOTADB"]:
            return (
                f"{book} is damaged or is not a book ({name}); nothing was written. "
                f"Copy the folder {book.parent} before anything else: "
                "every result is also in the spools of its attempts"
            )
        case ["FULL" | "IOERR"]:
            return (
                f"no room for {book}: its disk has {_free(book)} bytes free. All that was "
                "acknowledged is kept; free some space and go on"
            )
        case ["BUSY" | "LOCKED" | "PROTOCOL"]:
            return (
                f"{book} is locked by another process for too long; "
                f"`fuser -v {book}` shows which. End it, then run again"
            )
        case ["READONLY" | "CANTOPEN" | "PERM" | "AUTH"]:
            return (
                f"{book} cannot be opened or written ({name}); "
                f"check the permissions and the owner of {book.parent}"
            )
    return None


def _free(book: Path) -> str:
    try:
        return str(shutil.disk_usage(book.parent).free)
    except OSError:
        return "an unknown number of"
