"""The oracle of books finds what is wrong with one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contracts import oracle
from contracts.store_contract import CODE, COMPLETE, CRASHED, STUDY, logged, proposal
from tunebook.core.events import Finished
from tunebook.storage.chunks import pack_ints
from tunebook.storage.sqlite import open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A book with a trial that was complete at its second attempt, and one that runs."""
    with open_store(tmp_path) as store:
        store.create(STUDY)
        first = store.claim("depth", proposal(), CODE)
        store.append(logged(first, [1, 2, 3], 1))
        store.append(Finished(first, CRASHED, 1.0))
        second = store.claim("depth", proposal(), CODE)
        store.append(logged(second, range(100), 1))
        store.append(Finished(second, COMPLETE, 1.0))
        running = store.claim("depth", proposal(1), CODE)
        store.append(logged(running, [7], 1))
    return tmp_path


def test_a_good_book_passes(folder: Path) -> None:
    oracle.check(folder)


def test_a_writer_is_not_disturbed(folder: Path) -> None:
    with open_store(folder) as store, store._durable.begin():
        oracle.check(folder)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "UPDATE attempts SET outcome = (SELECT outcome FROM attempts WHERE id = 2)"
            " WHERE id = 1",
            "trial 1: complete 2 times",
        ),
        (
            "INSERT INTO trials SELECT 9, study, 3, setting, origin, origin_index, spec"
            " FROM trials WHERE id = 1",
            r"trial \(1, .*, 'FromSequence', 0\): 2 times",
        ),
        ("UPDATE trials SET number = 5 WHERE id = 2", r"trials of study 1 are .* \[1, 5\]"),
        ("UPDATE attempts SET number = 3 WHERE id = 2", r"attempts of trial 1 are .* \[1, 3\]"),
        ("DELETE FROM attempts WHERE id = 3", "trial 2 has no attempt"),
        ("DELETE FROM attempts WHERE id = 3", "foreign key"),
        ("UPDATE attempts SET outcome = NULL WHERE id = 1", "attempt 1 was left without"),
        ("UPDATE attempts SET token = 'same'", "token same: 3 times"),
        ("UPDATE blocks SET count = 2 WHERE attempt = 1", "not what its row says"),
        ("UPDATE blocks SET last_step = 2 WHERE attempt = 1", "not what its row says"),
        ("UPDATE blocks SET steps = :falling WHERE attempt = 1", "do not rise within a block"),
        (
            "INSERT INTO blocks SELECT 99, attempt, count, first_step, last_step, steps, seconds"
            " FROM blocks WHERE attempt = 1;"
            "INSERT INTO \"columns\" VALUES (99, 'error', x'00')",
            "do not rise from block to block",
        ),
    ],
)
def test_what_is_wrong_is_found(folder: Path, change: str, expected: str) -> None:
    with closing(sqlite3.connect(folder / "book.db", isolation_level=None)) as book:
        _forget_constraints(book)
        for statement in change.split(";"):
            book.execute(statement, {"falling": pack_ints([1, 3, 3])})
    with pytest.raises(AssertionError, match=expected):
        oracle.check(folder)


def test_a_damaged_file_is_found(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "book.db")) as book:
        root = book.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'blocks_of_attempt'"
        ).fetchone()[0]
        (size,) = book.execute("PRAGMA page_size").fetchone()
    with (folder / "book.db").open("r+b") as file:
        file.seek(root * size - 3)
        file.write(b"\xff\xff")
    with pytest.raises(AssertionError, match="integrity"):
        oracle.check(folder)


def _forget_constraints(book: sqlite3.Connection) -> None:
    """Copy every table into one without keys, so that anything can be written."""
    names = [row[0] for row in book.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    for name in (name for name in names if name in ("trials", "attempts")):
        book.execute(f"ALTER TABLE {name} RENAME TO old")
        book.execute(f"CREATE TABLE {name} AS SELECT * FROM old")
        book.execute("DROP TABLE old")
