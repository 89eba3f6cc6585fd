"""Books of older versions, brought forward.

A migration is a function that brings a book from version n to n + 1. It runs in a transaction,
after a copy of the file has been made, and is never edited once released.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import NoResultFound, OperationalError

from tunebook.core.errors import StoreError
from tunebook.files.atomic import sync
from tunebook.storage.connections import durable
from tunebook.storage.schema import read_version, write_version

Migration: TypeAlias = Callable[[Connection], None]


class OlderBook(StoreError):
    """The book was written by an older tunebook: nothing is wrong with it."""


MIGRATIONS: tuple[Migration, ...] = ()
VERSION = 1 + len(MIGRATIONS)


def migrate(engine: Engine, book: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a book to the newest version, keeping a copy of what it was."""
    wanted = 1 + len(migrations)
    found = book_version(engine, book)
    if found == wanted:
        return
    _refuse_newer(found, wanted, book)
    copy_book(book, book.with_name(f"{book.name}.before-v{wanted}"))
    with durable(engine).begin() as connection:
        # Read again: another process may have migrated the book in the meantime.
        for migration in migrations[read_version(connection) - 1 :]:
            migration(connection)
        write_version(connection, wanted)


def refuse_other_version(engine: Engine, book: Path, wanted: int = VERSION) -> None:
    """A reader cannot migrate: it reads its own version or nothing."""
    found = book_version(engine, book)
    _refuse_newer(found, wanted, book)
    if found < wanted:
        raise OlderBook(
            f"{book} was written by an older tunebook (schema {found}, this one reads {wanted}); "
            "the next `tunebook run` brings it forward and keeps a copy"
        )


def book_version(engine: Engine, book: Path) -> int:
    try:
        with engine.begin() as connection:
            return read_version(connection)
    except NoResultFound:
        raise _no_book(book) from None
    except OperationalError as error:
        if "no such table" in str(error):
            raise _no_book(book) from None
        raise


def copy_book(book: Path, copy: Path) -> None:
    """A consistent copy of a book that may be in use; it appears as a whole or not at all."""
    made = copy.with_name(f".{copy.name}.{os.getpid()}")
    made.unlink(missing_ok=True)
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    source = f"{book.absolute().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(source, uri=True)) as original,
        closing(sqlite3.connect(made)) as target,
    ):
        original.backup(target)
    sync(made)
    made.replace(copy)
    sync(copy.parent)


def _refuse_newer(found: int, wanted: int, book: Path) -> None:
    if found > wanted:
        raise StoreError(
            f"{book} was written by a newer tunebook (schema {found}, this one reads up to "
            f"{wanted}); upgrade tunebook"
        )


def _no_book(book: Path) -> StoreError:
    return StoreError(
        f"{book} is a database, but not a book of tunebook; choose another folder with `--dir`"
    )
