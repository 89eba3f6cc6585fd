"""Points in blocks: merged, split, written and read without a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, func, select

from contracts.store_contract import CODE, STUDY, proposal
from tunebook.core.curves import Block
from tunebook.storage import blocks, schema
from tunebook.storage.sqlite import open_store

NAMES = st.lists(st.sampled_from("abc"), min_size=1, unique=True)
BLOCKS = st.lists(
    st.tuples(NAMES, st.lists(st.integers(-3, 12), max_size=6)).map(
        lambda given: block(given[0], given[1])
    ),
    max_size=6,
)


def block(names: Sequence[str], steps: Sequence[int]) -> Block:
    """A block whose values tell where they come from."""
    return Block.of(names, [(s, s / 4, [s + ord(n) / 1000 for n in names]) for s in steps])


def superseded(given: Sequence[Block]) -> dict[str, list[int]]:
    """The steps of each metric, said slowly: each point removes those at or after its step."""
    found: dict[str, list[int]] = {}
    for part in given:
        for name in part.names:
            kept = found.setdefault(name, [])
            for step in part.steps.tolist():
                kept[:] = [s for s in kept if s < step] + [step]
    return {name: steps for name, steps in found.items() if steps}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A book with one attempt, whose key is 1."""
    with open_store(tmp_path) as store:
        store.create(STUDY)
        store.claim("depth", proposal(), CODE)
        with store._relaxed.begin() as connection:
            yield connection


@given(BLOCKS)
def test_later_points_supersede_earlier_ones(given: list[Block]) -> None:
    curves = blocks.curves(blocks.parts_of(given))
    found = {name: curve.steps.tolist() for name, curve in curves.items() if len(curve)}
    assert found == superseded(given)
    for name, curve in curves.items():
        assert np.array_equal(curve.values, curve.steps + ord(name) / 1000)
        assert np.array_equal(curve.seconds, curve.steps / 4)


@given(BLOCKS, st.integers(0, 6))
def test_merging_in_between_changes_nothing(given: list[Block], cut: int) -> None:
    first, then = given[:cut], given[cut:]
    merged = blocks.merge(blocks.parts_of([*blocks.merge(blocks.parts_of(first)), *then]))
    at_once = blocks.merge(blocks.parts_of(given))
    assert blocks.curves(blocks.parts_of(merged)) == blocks.curves(blocks.parts_of(at_once))
    assert {frozenset(b.names) for b in merged} == {frozenset(b.names) for b in at_once}
    for part in merged:
        assert len(part) > 0
        assert np.all(np.diff(part.steps) > 0)


def test_metrics_logged_together_share_their_steps() -> None:
    given = [block("ab", [1, 2]), block("c", [2]), block("ab", [3]), block("c", [4])]
    assert [b.names for b in blocks.merge(blocks.parts_of(given))] == [("a", "b"), ("c",)]


def test_blocks_are_read_as_they_were_written(connection: Connection) -> None:
    written = block("ab", [1, 2, 5])
    blocks.save(connection, 1, [written, block("c", [7])])
    found = blocks.load(connection, schema.attempts.c.id == 1)
    assert list(found) == [1]
    assert set(found[1]) == {"a", "b", "c"}
    [(steps, values, seconds)] = found[1]["b"]
    assert np.array_equal(steps, written.steps)
    assert np.array_equal(values, written.values[1])
    assert np.array_equal(seconds, written.seconds)


def test_a_long_block_is_cut(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "FULL", 4)
    blocks.save(connection, 1, [block("ab", range(10))])
    rows = connection.execute(
        select(schema.blocks.c.count, schema.blocks.c.first_step, schema.blocks.c.last_step)
    )
    assert rows.all() == [(4, 0, 3), (4, 4, 7), (2, 8, 9)]
    found = blocks.curves(blocks.load(connection, schema.attempts.c.id == 1)[1])
    assert found["a"].steps.tolist() == list(range(10))


def test_full_blocks_at_the_beginning_are_left_alone(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "FULL", 4)
    for steps in (range(6), [6], [7], [8]):
        blocks.save(connection, 1, [block("a", steps), block("b", [1 + 2 * max(steps)])])
    blocks.consolidate_tail(connection, 1)
    assert _counts(connection) == [4, 4, 4, 1]
    kept = _keys(connection)[:3]
    blocks.save(connection, 1, [block("a", range(9, 14))])
    blocks.consolidate_tail(connection, 1)
    assert _counts(connection) == [4, 4, 4, 4, 2]
    assert _keys(connection)[:3] == kept
    found = blocks.curves(blocks.load(connection, schema.attempts.c.id == 1)[1])
    assert found["a"].steps.tolist() == list(range(14))
    assert found["b"].steps.tolist() == [11, 13, 15, 17]


def test_only_full_blocks_are_left_alone(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "FULL", 2)
    blocks.save(connection, 1, [block("a", range(4))])
    kept = _keys(connection)
    blocks.consolidate_tail(connection, 1)
    assert _keys(connection) == kept


def test_consolidating_nothing_is_nothing(connection: Connection) -> None:
    blocks.consolidate(connection, 1)
    assert _counts(connection) == []


def test_columns_go_with_their_block(connection: Connection) -> None:
    blocks.save(connection, 1, [block("ab", [1])])
    blocks.save(connection, 1, [block("ab", [2])])
    blocks.consolidate(connection, 1)
    assert _counts(connection) == [2]
    assert connection.execute(select(func.count()).select_from(schema.columns)).scalar_one() == 2


def _counts(connection: Connection) -> list[int]:
    query = select(schema.blocks.c.count).order_by(schema.blocks.c.id)
    return list(connection.execute(query).scalars())


def _keys(connection: Connection) -> list[int]:
    return list(connection.execute(select(schema.blocks.c.id)).scalars())
