"""How a book's file is made and opened: where transactions begin, and what they sync."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool, QueuePool

from tunebook.files.atomic import sync
from tunebook.storage.schema import create_tables

BUSY_SECONDS = 30.0
# Packed columns have a few kilobytes each, and every one wastes half a page: with pages of 4096
# bytes a point of a short curve takes up to 15 bytes instead of 9.
PAGE_BYTES = 1024
_CHECKPOINT_PAGES = 4 * 2**20 // PAGE_BYTES

_BEGIN = "tunebook_begin"
_READING = ("BEGIN",)
# `synchronous` cannot change inside a transaction. With NORMAL a power cut may take the last
# commits, but never their order: a synced commit keeps all before it.
_DURABLE = ("PRAGMA synchronous=FULL", "BEGIN IMMEDIATE")
_RELAXED = ("PRAGMA synchronous=NORMAL", "BEGIN IMMEDIATE")


def open_engine(book: Path, *, readonly: bool, busy_seconds: float = BUSY_SECONDS) -> Engine:
    """An engine whose transactions are consistent snapshots, for reading.

    A reader connects anew for each snapshot, so that it holds nothing between two of them.
    """

    def connect() -> sqlite3.Connection:
        mode = _reading_mode(book) if readonly else "mode=rw"
        return _connect(book, mode, readonly, busy_seconds)

    pool = NullPool if readonly else QueuePool
    engine = create_engine("sqlite://", creator=connect, poolclass=pool)
    event.listen(engine, "begin", _begin)
    return engine


def durable(engine: Engine) -> Engine:
    """The same book, for writing: each transaction is on the disk when it ends."""
    return engine.execution_options(**{_BEGIN: _DURABLE})


def relaxed(engine: Engine) -> Engine:
    """The same book, for writing what could be read again from a spool."""
    return engine.execution_options(**{_BEGIN: _RELAXED})


def create_book(book: Path, version: int) -> None:
    """Make an empty book, or nothing if there is one: no process ever sees half of it."""
    made = book.with_name(f".{book.name}.{secrets.token_hex(8)}")
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        _fill(made, version)
        os.link(made, book)
    except FileExistsError:
        pass
    finally:
        for suffix in ("", "-wal", "-shm"):
            made.with_name(made.name + suffix).unlink(missing_ok=True)
    sync(book.parent)


def _fill(book: Path, version: int) -> None:
    engine = open_engine(book, readonly=False)
    try:
        with durable(engine).begin() as transaction:
            create_tables(transaction, version)
    finally:
        engine.dispose()
    # The mode stays in the file: whoever opens it later need not change it. It comes last, because
    # in WAL mode the tables would reach the file only on closing, which reports no error.
    with closing(_connect(book, "mode=rw", readonly=False)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def _connect(
    book: Path, mode: str, readonly: bool, busy_seconds: float = BUSY_SECONDS
) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{book.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,  # the driver begins nothing by itself
        check_same_thread=False,  # the pool lends a connection to one thread at a time
    )
    connection.execute("PRAGMA foreign_keys=1")
    connection.execute("PRAGMA trusted_schema=0")
    connection.execute(f"PRAGMA query_only={int(readonly)}")
    connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}")  # for a new book; others keep theirs
    return connection


def _reading_mode(book: Path) -> str:
    """In a folder that cannot be written, SQLite reads a book only if told that it is at rest."""
    at_rest = not book.with_name(f"{book.name}-wal").exists()
    if at_rest and not os.access(book.parent, os.W_OK):
        return "mode=ro&immutable=1"
    return "mode=ro"


def _begin(connection: Connection) -> None:
    for statement in connection.get_execution_options().get(_BEGIN, _READING):
        connection.exec_driver_sql(statement)
