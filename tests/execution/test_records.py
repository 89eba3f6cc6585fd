"""Records of a spool and the events they tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attempts import attempt_in
from tunebook.core.curves import columns
from tunebook.core.errors import StoreError
from tunebook.core.events import Event, Finished, Logged, Noted, Resumed, Started
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import records

ATTEMPT = attempt_in(Path("nowhere"))

names = st.sampled_from(["a", "b", "c", "é", '"', "time/x", "\ud800"])
rows = st.lists(
    st.dictionaries(names, st.floats(allow_nan=True), min_size=1, max_size=4), max_size=20
).map(
    lambda given: [
        (step, step / 8, tuple(row), tuple(row.values())) for step, row in enumerate(given)
    ]
)


def told(record: bytes) -> Event:
    return records.event(ATTEMPT, record, 99)


@pytest.mark.parametrize(
    ("record", "event"),
    [
        (records.started("host", 42), Started(ATTEMPT, "host", 42)),
        (records.resumed(3, 100), Resumed(ATTEMPT, 3, 100)),
        (records.noted("é\n\x00\ud800"), Noted(ATTEMPT, "é\n\x00\ud800")),
        (
            records.finished(Outcome(OutcomeKind.FAILED, "no", Cause.NONE, "Traceback é"), 1.5),
            Finished(ATTEMPT, Outcome(OutcomeKind.FAILED, "no", Cause.NONE, "Traceback é"), 1.5),
        ),
    ],
)
def test_facts(record: bytes, event: Event) -> None:
    assert told(record) == event
    assert records.is_finished(record) is isinstance(event, Finished)


@given(rows)
def test_points(given_rows: list[records.Row]) -> None:
    blocks = records.blocks_of(given_rows)
    record = records.points(blocks)
    assert not records.is_finished(record)
    event = told(record)
    assert isinstance(event, Logged)
    assert event.offset == 99
    assert event.blocks == tuple(blocks)
    curves = columns(event.blocks)
    for name in ("a", "b", "c", "é", '"', "time/x", "\ud800"):
        steps = [step for step, _, named, _ in given_rows if name in named]
        values = [v[n.index(name)] for _, _, n, v in given_rows if name in n]
        seconds = [at for _, at, named, _ in given_rows if name in named]
        curve = curves.get(name)
        if curve is None:
            assert not steps
            continue
        assert curve.steps.tolist() == steps
        assert curve.seconds.tolist() == seconds
        assert np.array_equal(curve.values, values, equal_nan=True)


@given(rows)
def test_every_metric_is_in_one_block(given_rows: list[records.Row]) -> None:
    named = [name for block in records.blocks_of(given_rows) for name in block.names]
    assert len(named) == len(set(named))


def test_metrics_logged_together_share_a_block() -> None:
    together = [(step, 0.0, ("a", "b"), (1.0, 2.0)) for step in range(3)]
    assert [block.names for block in records.blocks_of(together)] == [("a", "b")]
    apart = [*together, (3, 0.0, ("a",), (1.0,))]
    assert sorted(block.names for block in records.blocks_of(apart)) == [("a",), ("b",)]


def test_a_record_of_the_future_is_named() -> None:
    with pytest.raises(StoreError) as raised:
        told(b'F{"fact": "teleported"}')
    assert str(raised.value) == (
        "the spool of study/1 attempt 1 holds a record that this tunebook does not know, "
        "'teleported'; upgrade tunebook"
    )
