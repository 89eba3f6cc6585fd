"""A book is whole, or it is said what is wrong with it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.core.events import Finished
from tunebook.storage import checking
from tunebook.storage.checking import NoBook, flaws
from tunebook.storage.migrations import VERSION, OlderBook, refuse_other_version
from tunebook.storage.sqlite import open_store


@pytest.fixture
def book(tmp_path: Path) -> Path:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1, 2], 1))
        store.append(Finished(attempt, COMPLETE, 1.0))
    return tmp_path / "book.db"


def change(book: Path, statement: str) -> None:
    with closing(sqlite3.connect(book)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_whole_book_has_no_flaw(book: Path) -> None:
    assert flaws(book) == ()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE studies SET spec = 'x'", "not a value of tunebook"),
        (
            "UPDATE columns SET \"values\" = X'0102'",
            "study depth, trial 1, attempt 1, metric 'error': stored points are damaged",
        ),
        ("UPDATE blocks SET attempt = 99", "row 1 of blocks belongs to no row of attempts"),
        ("UPDATE meta SET value = 99", "was written by a newer tunebook"),
    ],
)
def test_every_value_is_looked_at(book: Path, statement: str, expected: str) -> None:
    change(book, statement)
    (flaw,) = flaws(book)
    assert expected in flaw


def test_an_older_book_is_not_a_flawed_one(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = partial(refuse_other_version, wanted=VERSION + 1)
    monkeypatch.setattr(checking, "refuse_other_version", later)
    with pytest.raises(OlderBook, match="the next `tunebook run` brings it forward"):
        flaws(book)


def test_pages_are_looked_at(book: Path) -> None:
    with book.open("r+b") as file:
        file.seek(2048)
        file.write(b"\xff" * 4096)
    assert flaws(book)
    book.write_text("Once upon a time, " * 100)
    assert flaws(book) == ("file is not a database",)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("VACUUM", "^is empty$"),
        ("CREATE TABLE books (a)", "^is a database, but not a book of tunebook$"),
        ("CREATE TABLE meta (name, value)", "^is a database, but not a book of tunebook$"),
    ],
)
def test_what_is_whole_and_no_book_is_not_a_flawed_one(
    tmp_path: Path, statement: str, expected: str
) -> None:
    change(tmp_path / "other.db", statement)
    with pytest.raises(NoBook, match=expected):
        flaws(tmp_path / "other.db")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"first_step", b"first_stop", "the table blocks lacks the column first_step"),
        (b"CREATE TABLE notes", b"CRATE? TABLE notes", "malformed database schema (notes)"),
        (b"TABLE notes (", b"TABLE notes \xee", r'(notes) - near "\xee": syntax error'),
    ],
)
def test_the_description_of_tables_is_looked_at(
    book: Path, before: bytes, after: bytes, expected: str
) -> None:
    content = book.read_bytes()
    assert before in content
    book.write_bytes(content.replace(before, after, 1))
    (flaw,) = flaws(book)
    assert expected in flaw
