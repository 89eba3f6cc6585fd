"""Whether a book is whole: its pages, its keys, and every value in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from tunebook.core.errors import StoreError, TunebookError
from tunebook.storage.chunks import DamagedPoints
from tunebook.storage.connections import open_engine
from tunebook.storage.migrations import OlderBook, refuse_other_version
from tunebook.storage.reading import read_results, read_studies

# A book without its last pages has a flaw for each: the first few are enough.
_MOST = 20


def flaws(book: Path) -> tuple[str, ...]:
    """What is wrong with a book, or nothing; it is only read. An older one raises `OlderBook`."""
    engine = open_engine(book, readonly=True)
    try:
        with engine.begin() as connection:
            found = list(islice(_of_file(connection), _MOST))
            if not found:
                refuse_other_version(engine, book)
                found = list(islice(_of_values(connection), _MOST))
    except (DBAPIError, sqlite3.Error) as error:
        origin = error.orig if isinstance(error, DBAPIError) else error
        found = [str(origin)]
    except OlderBook:
        raise
    except StoreError as error:
        found = [str(error)]
    finally:
        engine.dispose()
    return tuple(found)


def _of_file(connection: Connection) -> Iterator[str]:
    for line in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})").scalars():
        if line != "ok":
            yield from str(line).splitlines()
    for table, row, other, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} belongs to no row of {other}"


def _of_values(connection: Connection) -> Iterator[str]:
    for study in read_studies(connection):
        try:
            read_results(connection, Path(), study.name, metrics=None)
        except DamagedPoints as error:
            yield str(error)
        except TunebookError as error:
            yield f"{study.name}: {error}"
