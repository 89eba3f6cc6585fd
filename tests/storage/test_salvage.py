"""Of a damaged table every row is read that is not itself on a damaged page."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contracts.store_contract import CODE, STUDY, proposal
from tunebook.storage import salvage as module
from tunebook.storage.connections import PAGE_BYTES
from tunebook.storage.salvage import read_table, salvage
from tunebook.storage.sqlite import open_store


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with open_store(folder) as store:
        store.create(STUDY)
        for index in range(60):
            store.claim("depth", proposal(index), CODE)
    return folder / "book.db"


def rows_by_page(book: Path, table: str) -> dict[int, list[int]]:
    """The leaf pages of a table with the numbers of their rows, read from the file itself."""
    content = book.read_bytes()
    with closing(sqlite3.connect(book)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        root = connection.execute(query, (table,)).fetchone()[0]
    found: dict[int, list[int]] = {}

    def walk(page: int) -> None:
        at = (page - 1) * PAGE_BYTES
        kind, cells = content[at], int.from_bytes(content[at + 3 : at + 5], "big")
        start = at + (8 if kind == 13 else 12)
        places = [
            at + int.from_bytes(content[p : p + 2], "big")
            for p in range(start, start + 2 * cells, 2)
        ]
        if kind == 5:
            for place in places:
                walk(int.from_bytes(content[place : place + 4], "big"))
            walk(int.from_bytes(content[at + 8 : at + 12], "big"))
        else:
            found[page] = [_rowid(content, place) for place in places]

    walk(root)
    return found


def _rowid(content: bytes, place: int) -> int:
    _, place = _varint(content, place)
    return _varint(content, place)[0]


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = 0
    while True:
        byte, place = content[place], place + 1
        value = value << 7 | byte & 127
        if byte < 128:
            return value, place


@pytest.mark.parametrize("near", [2048, 1])
@pytest.mark.parametrize("seed", range(4))
def test_all_but_the_rows_of_damaged_pages(
    made: Path, tmp_path: Path, seed: int, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `near` at one, pages are found by large steps: then only one may be damaged."""
    monkeypatch.setattr(module, "_NEAR", near)
    chance = random.Random(seed)
    pages = rows_by_page(made, "trials")
    broken = chance.sample(sorted(pages), 4 if near > 1 else 1)
    copy = tmp_path / "copy.db"
    copy.write_bytes(made.read_bytes())
    with copy.open("r+b") as file:
        for page in broken:
            file.seek((page - 1) * PAGE_BYTES)
            file.write(b"\xee" * PAGE_BYTES)
    found = salvage(copy)
    expected = sorted({n for p, rows in pages.items() if p not in broken for n in rows})
    assert [row["id"] for row in found.rows["trials"]] == expected
    assert 1 <= found.holes["trials"] <= len(broken)
    assert len(found.rows["studies"]) == 1


def test_a_whole_book_has_no_holes(made: Path) -> None:
    found = salvage(made)
    assert found.holes == {}
    assert len(found.rows["trials"]) == len(found.rows["attempts"]) == 60


def test_a_tree_without_its_root_gives_nothing_and_ends(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(made.read_bytes())
    with closing(sqlite3.connect(copy)) as book:
        root = book.execute("SELECT rootpage FROM sqlite_master WHERE name='attempts'").fetchone()
    with copy.open("r+b") as file:
        file.seek((root[0] - 1) * PAGE_BYTES)
        file.write(b"\0" * PAGE_BYTES)
    found = salvage(copy)
    assert found.rows["attempts"] == ()
    assert found.holes == {"attempts": 1}


def test_what_is_no_database_at_all(tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    path.write_text("Once upon a time, " * 100)
    found = salvage(path)
    assert set(found.holes) == set(found.rows)
    with closing(sqlite3.connect(":memory:")) as empty:
        assert read_table(empty, "trials") == ([], 1)


@pytest.mark.parametrize("letter", [b"x", b"\xee"])
def test_a_table_that_is_described_otherwise_has_holes(
    made: Path, tmp_path: Path, letter: bytes
) -> None:
    """A column goes by another name, or by one that is no text."""
    content = made.read_bytes()
    book = tmp_path / "book.db"
    book.write_bytes(content.replace(b"claimed_at", letter + b"laimed_at", 1))
    found = salvage(book)
    assert found.holes == {"attempts": 1}
    assert [row["claimed_at"] for row in found.rows["attempts"]] == (
        [None] * 60 if letter == b"x" else []
    )
    assert len(found.rows["trials"]) == 60
