"""However points arrive, the curves are the same; the contract has the rest."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from contracts import oracle
from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.core.curves import Block
from tunebook.core.events import Finished, Logged
from tunebook.core.trials import Attempt
from tunebook.storage import blocks, ingestion, schema
from tunebook.storage.ingestion import plain
from tunebook.storage.sqlite import SQLiteStore, open_store

BATCHES = st.lists(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abc"), min_size=1, unique=True),
            st.lists(st.integers(0, 20), max_size=4),
        ),
        max_size=3,
    ),
    max_size=12,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        yield store


@given(BATCHES, st.integers(1, 5), st.integers(1, 5))
@settings(max_examples=15)
def test_batches_make_the_curves_of_all_points_at_once(
    batches: list[list[tuple[list[str], list[int]]]], full: int, most_parts: int
) -> None:
    arrived = [[_block(names, steps) for names, steps in batch] for batch in batches]
    expected = blocks.curves(blocks.parts_of(b for batch in arrived for b in batch))
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        open_store(Path(folder)) as store,
    ):
        patch.setattr(blocks, "FULL", full)
        patch.setattr(ingestion, "MOST_PARTS", most_parts)
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        for k, batch in enumerate(arrived):
            assert store.append(Logged(attempt, tuple(batch), k + 1))
        running = store.results("depth")[1].curves
        assert running == {name: curve for name, curve in expected.items() if len(curve)}
        assert store.append(Finished(attempt, COMPLETE, 1.0))
        assert store.results("depth")[1].curves == running
        oracle.check(Path(folder))


def test_the_blocks_of_a_running_attempt_stay_few(store: SQLiteStore) -> None:
    attempt = store.claim("depth", proposal(), CODE)
    most = 0
    for k in range(3 * ingestion.MOST_PARTS):
        store.append(logged(attempt, [k], k + 1))
        most = max(most, _count(store))
    assert most == ingestion.MOST_PARTS
    store.append(Finished(attempt, COMPLETE, 1.0))
    assert _count(store) == 1


def test_bytes_without_points_are_no_part(store: SQLiteStore) -> None:
    attempt = store.claim("depth", proposal(), CODE)
    assert store.append(Logged(attempt, (), 1))
    assert store.append(Logged(attempt, (Block.of(["a"], []),), 2))
    assert (_count(store), _parts(store, attempt)) == (0, 0)
    store.append(logged(attempt, [1], 3))
    assert (_count(store), _parts(store, attempt)) == (1, 1)


def test_half_a_surrogate_pair_is_written_out() -> None:
    assert plain("é 😀 \x00") == "é 😀 \x00"
    assert plain("a\ud800") == "a\\ud800"


def _block(names: Sequence[str], steps: Sequence[int]) -> Block:
    return Block.of(names, [(step, step / 4, [float(step)] * len(names)) for step in steps])


def _count(store: SQLiteStore) -> int:
    with store._engine.begin() as connection:
        return connection.execute(select(func.count()).select_from(schema.blocks)).scalar_one()


def _parts(store: SQLiteStore, attempt: Attempt) -> int:
    query = select(schema.attempts.c.parts).where(schema.attempts.c.token == attempt.token)
    with store._engine.begin() as connection:
        return connection.execute(query).scalar_one()
