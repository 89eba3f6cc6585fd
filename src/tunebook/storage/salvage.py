"""What can still be read of a damaged book: row after row, around what cannot.

A page that is damaged takes the rows on it along, and those below it. All others are found by
their numbers, which is how SQLite looks rows up: past each hole, the reading goes on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tunebook.storage import schema

Row: TypeAlias = Mapping[str, Any]

# Behind a row that cannot be read, so many numbers are tried one by one: a page has fewer rows.
_NEAR = 2048
_FURTHEST = 2**48


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The rows of each table that can be read, and the tables in which some cannot."""

    rows: Mapping[str, tuple[Row, ...]]
    holes: Mapping[str, int]


def salvage(book: Path) -> Salvaged:
    """Read what can be read. The file should be a copy: to open a book can change it."""
    rows: dict[str, tuple[Row, ...]] = {}
    holes: dict[str, int] = {}
    with closing(sqlite3.connect(book, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        # A damaged text stays bytes: it is no error of the whole row, and no other text either.
        connection.text_factory = _text
        for table in schema.metadata.sorted_tables:
            found, gaps = read_table(connection, table.name)
            names = table.columns.keys()
            rows[table.name] = tuple(_as_declared(row, names) for row in found)
            # The book's own description of its tables may be damaged, too.
            gaps += bool(found) and not {*names} <= {*found[0].keys()}
            if gaps:
                holes[table.name] = gaps
    return Salvaged(rows, holes)


def read_table(connection: sqlite3.Connection, table: str) -> tuple[list[sqlite3.Row], int]:
    """The rows of a table in the order of their numbers, and how many holes there are."""

    def read(first: int, most: int) -> Iterator[sqlite3.Row]:
        return connection.execute(
            f'SELECT rowid AS "row number", * FROM "{table}" NOT INDEXED '
            "WHERE rowid >= ? ORDER BY rowid LIMIT ?",
            (first, most),
        )

    found: list[sqlite3.Row] = []
    first, holes = 0, 0
    while True:
        try:
            for row in read(first, -1):
                found.append(row)
                first = row["row number"] + 1
            return found, holes
        except UnicodeDecodeError:
            # The name of a column: no row of this table can be asked for.
            return found, holes + 1
        except sqlite3.DatabaseError:
            # The driver looks a row ahead, and loses the one before what it cannot read: that one
            # is asked for by itself.
            after = _behind(first, lambda number: _can_read(read, number))
            holes += after != first
            alone = list(read(after, 1)) if after is not None else []
            if not alone:
                return found, holes
            found += alone
            first = alone[0]["row number"] + 1


def _can_read(read: Callable[[int, int], Iterator[sqlite3.Row]], number: int) -> bool:
    try:
        list(read(number, 1))
    except sqlite3.DatabaseError:
        return False
    return True


def _behind(first: int, readable: Callable[[int], bool]) -> int | None:
    """The next number from which rows can be read again; None if there is none."""
    for number in range(first, first + _NEAR):
        if readable(number):
            return number
    # A page high up in the tree is damaged: large steps, and then back to where it begins.
    low, step = first + _NEAR, _NEAR
    while not readable(low + step):
        low, step = low + step, step * 2
        if low > _FURTHEST:
            return None
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if readable(middle) else (middle, high)
    return high


def _text(content: bytes) -> str | bytes:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _as_declared(row: sqlite3.Row, names: list[str]) -> Row:
    """The columns that this version knows; there is nothing in those that the book lacks."""
    have = row.keys()
    return {name: row[name] if name in have else None for name in names}
