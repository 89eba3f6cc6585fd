"""Whether a book is whole: its pages, its keys, and every value in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from tunebook.core.errors import StoreError, TunebookError
from tunebook.storage import schema
from tunebook.storage.chunks import DamagedPoints
from tunebook.storage.connections import open_engine
from tunebook.storage.migrations import OlderBook, refuse_other_version
from tunebook.storage.reading import read_results, read_studies

# A book without its last pages has a flaw for each: the first few are enough.
_MOST = 20
# What every book has, of whatever version.
_TABLES = {"meta", "studies", "trials", "attempts"}


class NoBook(StoreError):
    """A file without flaw that is no book."""


def flaws(book: Path) -> tuple[str, ...]:
    """What is wrong with a book, or nothing; it is only read.

    An older one raises `OlderBook`; a database that is whole and has never been one, `NoBook`.
    """
    engine = open_engine(book, readonly=True)
    try:
        with engine.begin() as connection:
            found = list(islice(_of_file(connection), _MOST))
            if not found:
                _refuse_others(connection)
                refuse_other_version(engine, book)
                found = list(_of_tables(connection))
            if not found:
                found = list(islice(_of_values(connection), _MOST))
    except (DBAPIError, sqlite3.Error) as error:
        origin = error.orig if isinstance(error, DBAPIError) else error
        found = [str(origin)]
    except UnicodeDecodeError as error:
        # SQLite repeats what it does not understand.
        found = [error.object.decode(errors="backslashreplace")]
    except (OlderBook, NoBook):
        raise
    except StoreError as error:
        found = [str(error)]
    finally:
        engine.dispose()
    return tuple(found)


def _refuse_others(connection: Connection) -> None:
    tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = {*tables.scalars()}
    if not names:
        raise NoBook("is empty")
    if _TABLES - names:
        raise NoBook("is a database, but not a book of tunebook")


def _of_file(connection: Connection) -> Iterator[str]:
    for line in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})").scalars():
        if line != "ok":
            yield from str(line).splitlines()
    for table, row, other, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} belongs to no row of {other}"


def _of_tables(connection: Connection) -> Iterator[str]:
    """Columns that the book's own description of its tables lacks."""
    for table in schema.metadata.sorted_tables:
        query = "SELECT name FROM pragma_table_info(?)"
        have = {*connection.exec_driver_sql(query, (table.name,)).scalars()}
        for name in {*table.columns.keys()} - have:
            yield f"the table {table.name} lacks the column {name}"


def _of_values(connection: Connection) -> Iterator[str]:
    for study in read_studies(connection):
        try:
            read_results(connection, Path(), study.name, metrics=None)
        except DamagedPoints as error:
            yield str(error)
        except TunebookError as error:
            yield f"{study.name}: {error}"
