"""Row 12: damage is found when a book is opened, and `tunebook recover` makes it whole again."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults import left_book
from faults.store_writer import main as run_again
from tunebook.app import recovering
from tunebook.core.errors import StoreError
from tunebook.storage.connections import PAGE_BYTES
from tunebook.storage.sqlite import open_store


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = left_book.make(tmp_path_factory.mktemp("row") / "made")
    with open_store(folder) as store:
        store.studies()
    assert not (folder / "book.db-wal").exists()
    return folder


def damage(book: Path, pages: list[int], seed: int) -> None:
    chance = random.Random(seed)
    with book.open("r+b") as file:
        for page in pages:
            file.seek(page % (book.stat().st_size // PAGE_BYTES) * PAGE_BYTES)
            file.write(chance.randbytes(PAGE_BYTES))


@settings(max_examples=3)
@given(pages=st.lists(st.integers(0, 10**6), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_row_12_any_damage_is_recovered_from(made: Path, pages: list[int], seed: int) -> None:
    recover_from(made, pages, seed)


@pytest.mark.long
@settings(max_examples=200)
@given(pages=st.lists(st.integers(0, 10**6), min_size=1, max_size=20), seed=st.integers(0, 99))
def test_row_12_much_damage_is_recovered_from(made: Path, pages: list[int], seed: int) -> None:
    recover_from(made, pages, seed)


def recover_from(made: Path, pages: list[int], seed: int) -> None:
    folder = left_book.copy(made, made.with_name("damaged"))
    book = folder / "book.db"
    damage(book, pages, seed)
    bytes_before = book.read_bytes()
    found = recovering.check(folder)
    assert book.read_bytes() == bytes_before
    if not found.flaws:  # a page that nothing uses
        left_book.check(folder, made)
        return
    done = recovering.recover(folder)
    assert done.kept is not None
    assert Path(done.kept).read_bytes() == bytes_before
    assert done.is_whole, done
    left_book.check(folder, made)
    assert not list(folder.glob(".recovering-*"))


def test_row_12_damage_to_any_page_is_found_when_the_book_is_opened(
    made: Path, tmp_path: Path
) -> None:
    folder = left_book.copy(made, tmp_path / "damaged")
    book = folder / "book.db"
    whole, found = book.read_bytes(), 0
    for page in range(len(whole) // PAGE_BYTES):
        book.write_bytes(whole)
        damage(book, [page], page)
        if is_damaged(book):
            found += 1
            with pytest.raises(StoreError, match=r"`tunebook recover --dir .*` makes a new book"):
                open_store(folder)
    assert found > 15


def is_damaged(book: Path) -> bool:
    """Whether SQLite itself says so."""
    try:
        with closing(sqlite3.connect(book)) as connection:
            return connection.execute("PRAGMA quick_check").fetchone() != ("ok",)
    except sqlite3.DatabaseError:
        return True


def test_row_12_a_run_refuses_and_names_the_way_out(made: Path, tmp_path: Path) -> None:
    folder = left_book.copy(made, tmp_path / "damaged")
    damage(folder / "book.db", list(range(1, 12)), 1)
    with pytest.raises(StoreError, match=r"`tunebook recover --dir .*` makes a new book"):
        run_again(folder)
    recovering.recover(folder)
    run_again(folder)
    left_book.check(folder, made)
