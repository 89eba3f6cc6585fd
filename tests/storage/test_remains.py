"""Rows that make no sense are left out; what they belong to is told of as broken."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.core.events import Finished, Noted
from tunebook.storage import schema
from tunebook.storage.remains import KeptAttempt, Remains, remains
from tunebook.storage.salvage import salvage
from tunebook.storage.sqlite import open_store


@pytest.fixture
def book(tmp_path: Path) -> Path:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1, 2], 1))
        store.append(Noted(attempt, "slow"))
        store.append(Finished(attempt, COMPLETE, 1.0))
    return tmp_path / "book.db"


def after(book: Path, statement: str = "SELECT 1") -> Remains:
    with closing(sqlite3.connect(book)) as connection:
        connection.execute(statement)
        connection.commit()
    return remains(salvage(book))


def only(left: Remains) -> KeptAttempt:
    return left.trials[1][1].attempts[1]


def test_a_whole_book_remains(book: Path) -> None:
    left = after(book)
    assert left.studies == {1: STUDY}
    kept = only(left)
    assert (kept.outcome, kept.notes, kept.broken, len(kept.points)) == (
        COMPLETE,
        ("slow",),
        False,
        1,
    )
    assert not left.doubtful_trials
    assert not left.doubtful_points


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE columns SET \"values\" = X'0102'",
        "UPDATE blocks SET steps = X'0102'",
        "UPDATE blocks SET first_step = 7",
        "DELETE FROM columns",
        "DELETE FROM blocks",
    ],
)
def test_points_that_are_damaged_or_missing(book: Path, statement: str) -> None:
    kept = only(after(book, statement))
    assert kept.broken
    assert kept.points == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trials SET spec = '{}'",
        "UPDATE trials SET setting = 'another'",
        "UPDATE trials SET number = 'one'",
        'UPDATE trials SET spec = \'{"tunebook":1,"value":{"seed":1}}\'',
    ],
)
def test_trials_that_are_damaged(book: Path, statement: str) -> None:
    assert after(book, statement).trials == {}


def test_attempts_and_studies_that_are_damaged(book: Path) -> None:
    assert only(after(book, "UPDATE attempts SET outcome = 'x'")).outcome is None
    assert after(book, "UPDATE attempts SET code = 'x'").trials[1][1].attempts == {}
    assert after(book, "UPDATE studies SET spec = 'x'").studies == {}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trials SET spec = replace(spec, 'blocks', CAST(X'62FF6F636B73' AS TEXT))",
        "UPDATE attempts SET token = CAST(X'FF' AS TEXT)",
        "UPDATE attempts SET code = CAST(X'FF' AS TEXT)",
    ],
)
def test_text_that_is_no_text_is_damaged_and_not_another_text(book: Path, statement: str) -> None:
    left = after(book, statement)
    assert not any(trial.attempts for trial in left.trials.get(1, {}).values())


def test_details_that_are_damaged_are_left_out(book: Path) -> None:
    kept = only(
        after(
            book,
            "UPDATE attempts SET host = CAST(X'FF' AS TEXT), seconds = 'x', pid = 'y', "
            "outcome = replace(outcome, 'done', CAST(X'FF' AS TEXT))",
        )
    )
    assert (kept.row["host"], kept.row["seconds"], kept.row["pid"]) == ("", 0.0, None)
    assert (kept.outcome, kept.unended) == (None, True)
    assert only(after(book, "UPDATE notes SET text = CAST(X'FF' AS TEXT)")).notes == ()
    assert only(after(book, "UPDATE columns SET metric = CAST(X'FF' AS TEXT)")).broken


COLUMNS = [
    (table.name, column.name) for table in schema.metadata.sorted_tables for column in table.c
]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_column_that_goes_by_another_name(book: Path, table: str, column: str) -> None:
    """The book's own description of its tables may be damaged, too."""
    left = after(book, f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "other"')
    assert left.doubtful_trials is (table in ("studies", "trials", "attempts"))
    assert left.doubtful_points is (table in ("blocks", "columns"))
    assert all(isinstance(key, int) for key in (*left.studies, *left.trials))
