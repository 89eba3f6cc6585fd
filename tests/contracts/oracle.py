"""What must hold of every book at every moment, whatever has happened to its writers.

It reads the file itself, without the code under test.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import accumulate, pairwise
from pathlib import Path


def check(folder: Path) -> None:
    """Raise `AssertionError` with a line for each thing that is wrong with the book in a folder."""
    uri = f"{(folder / 'book.db').absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as book:
        book.execute("PRAGMA query_only=1")
        book.execute("BEGIN")
        try:
            wrong = [line for rule in RULES for line in rule(book)]
        except sqlite3.DatabaseError as error:
            wrong = [f"integrity: {error}"]
    if wrong:
        raise AssertionError("\n".join(wrong))


Rule = Callable[[sqlite3.Connection], Iterator[str]]


def the_file_is_whole(book: sqlite3.Connection) -> Iterator[str]:
    yield from (
        f"integrity: {line}" for (line,) in book.execute("PRAGMA integrity_check") if line != "ok"
    )
    yield from (f"foreign key: {row}" for row in book.execute("PRAGMA foreign_key_check"))


def a_trial_is_complete_once(book: sqlite3.Connection) -> Iterator[str]:
    rows = book.execute("SELECT trial, outcome FROM attempts WHERE outcome IS NOT NULL")
    complete = Counter(
        trial for trial, text in rows if json.loads(text)["value"]["kind"]["value"] == "complete"
    )
    yield from (f"trial {trial}: complete {n} times" for trial, n in complete.items() if n > 1)


def an_index_is_used_once(book: sqlite3.Connection) -> Iterator[str]:
    rows = book.execute("SELECT study, setting, origin, origin_index FROM trials")
    yield from (f"trial {key}: {n} times" for key, n in Counter(rows).items() if n > 1)


def numbers_have_no_gaps(book: sqlite3.Connection) -> Iterator[str]:
    for table, owner in (("trials", "study"), ("attempts", "trial")):
        found = defaultdict(list)
        for key, number in book.execute(f"SELECT {owner}, number FROM {table} ORDER BY number"):
            found[key].append(number)
        for key, numbers in found.items():
            if numbers != list(range(1, len(numbers) + 1)):
                yield f"{table} of {owner} {key} are numbered {numbers}"


def every_trial_was_claimed(book: sqlite3.Connection) -> Iterator[str]:
    rows = book.execute("SELECT id FROM trials WHERE id NOT IN (SELECT trial FROM attempts)")
    yield from (f"trial {key} has no attempt" for (key,) in rows)


def only_the_latest_attempt_is_open(book: sqlite3.Connection) -> Iterator[str]:
    rows = book.execute(
        "SELECT id FROM attempts AS a WHERE outcome IS NULL AND EXISTS "
        "(SELECT 1 FROM attempts AS b WHERE b.trial = a.trial AND b.number > a.number)"
    )
    yield from (f"attempt {key} was left without an outcome" for (key,) in rows)


def tokens_are_unique(book: sqlite3.Connection) -> Iterator[str]:
    tokens = Counter(book.execute("SELECT token FROM attempts"))
    yield from (f"token {token}: {n} times" for (token,), n in tokens.items() if n > 1)


def steps_only_rise(book: sqlite3.Connection) -> Iterator[str]:
    """Strictly, within a block and within an attempt that has ended."""
    ended = {key for (key,) in book.execute("SELECT id FROM attempts WHERE outcome IS NOT NULL")}
    last: dict[tuple[int, str], int] = {}
    rows = book.execute(
        "SELECT attempt, metric, count, first_step, last_step, steps FROM blocks "
        'JOIN "columns" ON block = blocks.id ORDER BY blocks.id'
    )
    for attempt, metric, count, first_step, last_step, packed in rows:
        where = f"attempt {attempt}, {metric}"
        steps = _steps(packed)
        if len(steps) != count or (steps[0], steps[-1]) != (first_step, last_step):
            yield f"{where}: a block is not what its row says"
        if any(b <= a for a, b in pairwise(steps)):
            yield f"{where}: steps do not rise within a block"
        if attempt in ended and steps[0] <= last.get((attempt, metric), steps[0] - 1):
            yield f"{where}: steps do not rise from block to block"
        last[attempt, metric] = steps[-1]


def _steps(packed: bytes) -> list[int]:
    way, content = packed[0], packed[1:]
    if way:
        content = zlib.decompress(content)
    if way == 2:
        count = len(content) // 8
        content = bytes(content[k * count + i] for i in range(count) for k in range(8))
    return list(accumulate(struct.unpack(f"<{len(content) // 8}q", content)))


RULES: tuple[Rule, ...] = (
    the_file_is_whole,
    a_trial_is_complete_once,
    an_index_is_used_once,
    numbers_have_no_gaps,
    every_trial_was_claimed,
    only_the_latest_attempt_is_open,
    tokens_are_unique,
    steps_only_rise,
)
