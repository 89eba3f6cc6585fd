"""Old books are brought forward; what they were is kept."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection, Engine

from contracts import oracle
from contracts.store_contract import CODE, COMPLETE, PREEMPTED, STUDY, proposal
from tunebook.core.errors import StoreError
from tunebook.core.events import Finished
from tunebook.core.trials import Code
from tunebook.storage.checking import flaws
from tunebook.storage.connections import open_engine
from tunebook.storage.migrations import (
    MIGRATIONS,
    VERSION,
    book_version,
    copy_book,
    migrate,
    refuse_other_version,
)
from tunebook.storage.sqlite import open_store

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(params=["schema_v1.sql", "book_v1.db"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A book of version 1, with two studies and three attempts: its rows in words, and its file."""
    path, kept = tmp_path / "book.db", FIXTURES / request.param
    if kept.suffix == ".db":
        shutil.copyfile(kept, path)
        return path
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(kept.read_text())
        connection.execute("PRAGMA journal_mode=WAL")
    return path


@pytest.fixture
def engine(book: Path) -> Iterator[Engine]:
    opened = open_engine(book, readonly=False)
    yield opened
    opened.dispose()


def _colour(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE studies ADD COLUMN colour TEXT DEFAULT 'red'")


def _paint(connection: Connection) -> None:
    connection.exec_driver_sql("UPDATE studies SET colour = 'blue'")


def _fail(connection: Connection) -> None:
    _paint(connection)
    raise RuntimeError("half-way")


def test_a_book_of_version_1_can_be_read(book: Path) -> None:
    with open_store(book.parent) as store:
        results = store.results("depth")
        assert results.study == STUDY
        assert [study.name for study in store.studies()] == ["depth", "width"]
        first, second = results
        assert first.trial.config == proposal(0).config
        assert [attempt.outcome for attempt in first.attempts] == [PREEMPTED, COMPLETE]
        assert [attempt.code for attempt in first.attempts] == [CODE, Code("def", "12", "34")]
        assert first.attempts[0].notes == ("slow",)
        assert first.curves["error"].steps.tolist() == [10, 20, 25, 35]
        assert first.curves["error"].values.tolist() == [10.0, 20.0, 0.1, 0.3]
        assert first.curves["loss"].values.tobytes() == np.array([np.nan, -0.0]).tobytes()
        assert first.curves["error"].seconds.tolist() == [1.0, 2.0, 1.0, 2.0]
        assert second.status == "running"
    oracle.check(book.parent)


def test_an_old_book_ends_with_the_tables_of_a_new_one(book: Path, tmp_path: Path) -> None:
    open_store(book.parent).close()
    open_store(tmp_path / "new").close()
    assert _tables(book) == _tables(tmp_path / "new" / "book.db")


def test_the_version_counts_the_migrations(engine: Engine, book: Path) -> None:
    assert len(MIGRATIONS) + 1 == VERSION
    migrate(engine, book)
    assert book_version(engine, book) == VERSION


def test_migrations_run_in_order_after_a_copy(engine: Engine, book: Path) -> None:
    migrate(engine, book, [_colour, _paint])
    assert book_version(engine, book) == 3
    assert _query(book, "SELECT DISTINCT colour FROM studies") == [("blue",)]
    copy = book.with_name("book.db.before-v3")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert _query(copy, "SELECT value FROM meta") == [(1,)]
    assert _query(copy, "SELECT count(*) FROM attempts") == [(3,)]
    assert "colour" not in _tables(copy)["studies"]
    assert not list(book.parent.glob(".*"))


def test_only_what_is_missing_runs(engine: Engine, book: Path) -> None:
    migrate(engine, book, [_colour])
    migrate(engine, book, [_colour, _paint])
    migrate(engine, book, [_colour, _paint])
    assert _query(book, "SELECT DISTINCT colour FROM studies") == [("blue",)]


def test_nothing_to_do_makes_no_copy(engine: Engine, book: Path) -> None:
    migrate(engine, book, [])
    assert not list(book.parent.glob("*.before-*"))


def test_a_migration_that_fails_changes_nothing(engine: Engine, book: Path) -> None:
    before = _tables(book)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="half-way"):
            migrate(engine, book, [_colour, _fail])
    assert _tables(book) == before
    assert book_version(engine, book) == 1
    migrate(engine, book, [_colour, _paint])
    assert book_version(engine, book) == 3


def test_another_process_may_have_been_faster(
    engine: Engine, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(*paths: Path) -> None:
        monkeypatch.undo()
        migrate(engine, book, [_colour])

    monkeypatch.setattr("tunebook.storage.migrations.copy_book", overtaken)
    migrate(engine, book, [_colour])
    assert book_version(engine, book) == 2


def test_row_29_a_book_of_every_version_is_kept() -> None:
    assert {path.name for path in FIXTURES.glob("*.db")} == {
        f"book_v{version}.db" for version in range(1, VERSION + 1)
    }


def test_row_29_the_file_of_a_release_opens_goes_on_and_is_left_as_it_was(tmp_path: Path) -> None:
    shutil.copyfile(FIXTURES / f"book_v{VERSION}.db", tmp_path / "book.db")
    with open_store(tmp_path, readonly=True) as store:
        before = store.results("depth")
        assert before.counts() == {"complete": 1, "running": 1}
    open_store(tmp_path).close()
    assert not list(tmp_path.glob("*.before-*"))
    assert flaws(tmp_path / "book.db") == ()
    with open_store(tmp_path) as store:
        store.create(STUDY)
        store.append(Finished(store.claim("depth", proposal(9), CODE), COMPLETE, 1.0))
        after = store.results("depth")
    assert after.counts() == {"complete": 2, "running": 1}
    assert [record.trial for record in after][:2] == [record.trial for record in before]
    oracle.check(tmp_path)


def test_row_29_the_file_of_a_later_release_is_refused_and_not_touched(tmp_path: Path) -> None:
    book = tmp_path / "book.db"
    shutil.copyfile(FIXTURES / f"book_v{VERSION}.db", book)
    with closing(sqlite3.connect(book, isolation_level=None)) as connection:
        connection.execute("UPDATE meta SET value = ?", (VERSION + 1,))
        connection.execute("ALTER TABLE trials ADD COLUMN colour TEXT")
    content = book.read_bytes()
    for readonly in (True, False):
        with pytest.raises(StoreError) as refusal:
            open_store(tmp_path, readonly=readonly)
        assert str(refusal.value) == (
            f"{book} was written by a newer tunebook (schema {VERSION + 1}, this one reads up to "
            f"{VERSION}); upgrade tunebook"
        )
    assert book.read_bytes() == content


def test_row_29_the_copy_of_a_migrated_book_is_the_book_that_it_was(
    engine: Engine, book: Path
) -> None:
    (book.parent / "older").mkdir()
    migrate(engine, book, [_colour])
    book.with_name("book.db.before-v2").rename(book.parent / "older" / "book.db")
    with open_store(book.parent / "older", readonly=True) as store:
        assert store.results("depth").study == STUDY
        assert store.results("depth").counts() == {"complete": 1, "running": 1}


def test_a_newer_book_is_refused(engine: Engine, book: Path) -> None:
    migrate(engine, book, [_colour])
    expected = (
        f"{book} was written by a newer tunebook (schema 2, this one reads up to 1); "
        "upgrade tunebook"
    )
    for readonly in (False, True):
        with pytest.raises(StoreError) as refusal:
            open_store(book.parent, readonly=readonly)
        assert str(refusal.value) == expected


def test_a_reader_does_not_migrate(engine: Engine, book: Path) -> None:
    refuse_other_version(engine, book, 1)
    with pytest.raises(StoreError) as refusal:
        refuse_other_version(engine, book, 2)
    assert str(refusal.value) == (
        f"{book} was written by an older tunebook (schema 1, this one reads 2); "
        "the next `tunebook run` brings it forward and keeps a copy"
    )


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE other (a)",
        "CREATE TABLE meta (name TEXT, value INTEGER); INSERT INTO meta VALUES ('other', 1)",
        "",
    ],
)
def test_another_database_is_refused(tmp_path: Path, script: str) -> None:
    book = tmp_path / "book.db"
    with closing(sqlite3.connect(book)) as connection:
        connection.executescript(script)
    with pytest.raises(StoreError) as refusal:
        open_store(tmp_path)
    assert str(refusal.value) == (
        f"{book} is a database, but not a book of tunebook; choose another folder with `--dir`"
    )


@pytest.mark.parametrize("readonly", [False, True])
def test_what_cannot_be_opened_is_not_taken_for_another_database(
    tmp_path: Path, readonly: bool
) -> None:
    (tmp_path / "book.db").mkdir()
    with pytest.raises(StoreError, match=r"cannot be opened|the disk failed"):
        open_store(tmp_path, readonly=readonly)


def test_a_copy_holds_what_is_not_yet_in_the_main_file(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        copy_book(tmp_path / "book.db", tmp_path / "copy.db")
    assert _query(tmp_path / "copy.db", "SELECT name FROM studies") == [("depth",)]


def _tables(book: Path) -> dict[str, str]:
    rows = _query(book, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {str(name): str(sql) for name, sql in rows}


def _query(book: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(book)) as connection:
        return connection.execute(query).fetchall()
