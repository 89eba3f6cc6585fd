"""SQLite's errors in the words of a person who can do something about them."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from tunebook.core.errors import StoreError, StoreFull, StoreLocked
from tunebook.files import space
from tunebook.storage.chunks import DamagedPoints
from tunebook.storage.folders import usual_folder
from tunebook.storage.holders import holder


def recovery(book: Path) -> str:
    """What to do about a damaged book."""
    command = f"tunebook recover{option(book)}"
    return f"`{command}` makes a new book of what can be read and of the attempts' spools"


def option(book: Path) -> str:
    """The option that names a book's folder on the command line, where it is not the usual one."""
    usual = usual_folder().absolute()
    folder = book.parent.absolute()
    return "" if folder == usual else f" --dir {shlex.quote(str(folder))}"


@contextmanager
def explained(book: Path) -> Iterator[None]:
    """Turn what can go wrong with the file of a book into `StoreError`; bugs pass unchanged."""
    try:
        yield
    except DamagedPoints as error:
        raise StoreError(f"{book}: {error}. {recovery(book)}") from error
    except UnicodeDecodeError as error:
        # SQLite repeats what it does not understand, such as a damaged name of a table.
        raise _damaged(book, "its text is not UTF-8") from error
    except (DBAPIError, sqlite3.Error) as error:
        told = explain(fault_name(error), book)
        if told is None:
            raise
        raise told from error


def fault_name(error: BaseException) -> str:
    """SQLite's own name of an error, such as `SQLITE_BUSY`."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    return getattr(origin, "sqlite_errorname", "")


def is_io_error(name: str) -> bool:
    """Whether the disk failed. (No room for the shared memory file is a full disk, not a fault.)"""
    return name.startswith("SQLITE_IOERR") and name != "SQLITE_IOERR_SHMSIZE"


def explain(name: str, book: Path) -> StoreError | None:
    """What happened to the book and what to do, or None if the error is not of this kind."""
    if is_io_error(name):
        return StoreError(
            f"the disk failed while {book} was in use ({name}); what was being written is not "
            "acknowledged, and nothing more is written. Check the disk, then run again"
        )
    match name.split("_")[1:2]:
        case ["CORRUPT" | "NOTADB"]:
            return _damaged(book, name)
        case ["FULL" | "IOERR"]:
            return no_room(book)
        case ["BUSY" | "LOCKED" | "PROTOCOL"]:
            return StoreLocked(
                f"{book} is locked by {holder(book)}. All that was acknowledged is kept; "
                "end that process, or let it finish"
            )
        case ["READONLY" | "CANTOPEN" | "PERM" | "AUTH"]:
            return StoreError(
                f"{book} cannot be opened or written ({name}); "
                f"check the permissions and the owner of {book.parent}"
            )
    return None


def _damaged(book: Path, why: str) -> StoreError:
    return StoreError(
        f"{book} is damaged or is not a book ({why}); nothing was written. {recovery(book)}"
    )


def no_room(path: Path) -> StoreFull:
    """A full disk, with the path that has no room and how much of it there is."""
    return StoreFull(
        f"no room for {path}: {space.in_words(path)}. All that was "
        "acknowledged is kept; free some space and go on"
    )


def refused(path: Path, error: OSError) -> StoreError:
    """A file or folder beside the book that could not be written."""
    if space.is_full(error):
        return no_room(path)
    return StoreError(f"cannot write {path}: {error.strerror}; check the disk and the permissions")
