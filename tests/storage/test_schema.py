"""What the tables themselves forbid, whoever writes."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from tunebook.storage.migrations import VERSION
from tunebook.storage.schema import create_tables, read_version, write_version

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def book() -> Iterator[sqlite3.Connection]:
    """A book of the newest version, with one attempt and its points."""
    text = (FIXTURES / f"schema_v{VERSION}.sql").read_text()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(text)
        connection.execute("PRAGMA foreign_keys=1")
        yield connection


def test_every_version_has_a_fixture_with_its_tables(book: sqlite3.Connection) -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        create_tables(connection, VERSION)
        made = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master").all()
    engine.dispose()
    kept = book.execute("SELECT name, sql FROM sqlite_master").fetchall()
    assert {name: _plain(sql) for name, sql in made} == {name: _plain(sql) for name, sql in kept}


def test_the_version_is_kept() -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        create_tables(connection, 4)
        assert read_version(connection) == 4
        write_version(connection, 5)
        assert read_version(connection) == 5
    engine.dispose()


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ("studies", {"id": 99}),
        ("trials", {"id": 99, "number": 99}),
        ("trials", {"id": 99, "origin_index": 99}),
        ("attempts", {"id": 99, "token": "another"}),
        ("attempts", {"id": 99, "number": 99}),
        ("notes", {"id": 99}),
        ("columns", {}),
    ],
)
def test_nothing_is_there_twice(
    book: sqlite3.Connection, table: str, changes: dict[str, object]
) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        _insert_again(book, table, changes)


@pytest.mark.parametrize(
    ("table", "owner", "changes"),
    [
        ("trials", "study", {"id": 99}),
        ("attempts", "trial", {"id": 99, "token": "another"}),
        ("notes", "attempt", {"id": 99}),
        ("blocks", "attempt", {"id": 99}),
        ("columns", "block", {}),
    ],
)
def test_nothing_belongs_to_nobody(
    book: sqlite3.Connection, table: str, owner: str, changes: dict[str, object]
) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        _insert_again(book, table, {**changes, owner: 12345})


def test_the_id_of_a_study_never_comes_back(book: sqlite3.Connection) -> None:
    book.execute("DELETE FROM studies WHERE name = 'width'")
    book.execute("INSERT INTO studies (name, spec) VALUES ('new', '')")
    assert book.execute("SELECT id FROM studies WHERE name = 'new'").fetchone() == (3,)


def _insert_again(book: sqlite3.Connection, table: str, changes: dict[str, object]) -> None:
    cursor = book.execute(f'SELECT * FROM "{table}" LIMIT 1')
    names = [f'"{column[0]}"' for column in cursor.description]
    row = dict(zip(names, cursor.fetchone(), strict=True))
    row |= {f'"{name}"': value for name, value in changes.items()}
    marks = ", ".join("?" * len(row))
    book.execute(f'INSERT INTO "{table}" ({", ".join(row)}) VALUES ({marks})', tuple(row.values()))


def _plain(sql: str | None) -> str:
    return re.sub(r"\s+", " ", sql or "")
