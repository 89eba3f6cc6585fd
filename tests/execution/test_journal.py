"""The way of points into a spool: queued, written in order, kept while the disk is full."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from attempts import attempt_in, in_a_child
from tunebook.core.events import Event, Logged, Noted
from tunebook.execution import journal, records
from tunebook.execution.journal import Journal
from tunebook.files import spool

LAST = records.noted("the end")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture(autouse=True)
def _only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine half a second may pass anywhere; a test of the thread sets its own."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 3600.0)


@pytest.fixture
def _at_every_moment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The thread writes all the time, and threads change places all the time."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def row(step: int, name: str = "loss") -> records.Row:
    return step, 0.0, (name,), (float(step),)


def told(path: Path) -> list[Event]:
    attempt = attempt_in(path.parent)
    return [records.event(attempt, record, offset) for record, offset in spool.read(path)]


def steps(path: Path) -> list[int]:
    """The steps in the order in which they were written."""
    blocks = [block for event in told(path) if isinstance(event, Logged) for block in event.blocks]
    return np.concatenate([block.steps for block in blocks]).tolist() if blocks else []


def test_what_is_queued_is_written_at_the_end(path: Path) -> None:
    kept = Journal(path)
    for step in range(3):
        kept.add(row(step))
    assert told(path) == []
    kept.close(LAST)
    assert steps(path) == [0, 1, 2]
    assert isinstance(told(path)[-1], Noted)


def test_the_thread_writes_by_itself(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.01)
    kept = Journal(path)
    kept.add(row(0))
    while not steps(path):
        time.sleep(0.01)
    kept.close(LAST)
    assert steps(path) == [0]


def test_many_points_make_several_records(path: Path) -> None:
    kept = Journal(path)
    for step in range(10_000):
        kept.add(row(step))
    kept.flush()
    sizes = [len(e.blocks[0]) for e in told(path) if isinstance(e, Logged)]
    assert sizes == [4096, 4096, 1808]
    assert steps(path) == list(range(10_000))
    kept.close(LAST)


@pytest.mark.usefixtures("_at_every_moment")
def test_points_keep_their_order_whichever_thread_writes_them(path: Path) -> None:
    kept = Journal(path)
    for step in range(1000):
        kept.add(row(step))
        kept.flush()
    kept.close(LAST)
    assert steps(path) == list(range(1000))


def test_a_record_is_written_at_once(path: Path) -> None:
    kept = Journal(path)
    kept.add(row(0))
    kept.write(records.noted("now"))
    assert [type(event) for event in told(path)] == [Noted]
    kept.sync()
    assert [type(event) for event in told(path)] == [Noted, Logged]
    kept.close(LAST)


def test_points_may_be_added_before_each_flush(path: Path) -> None:
    count = 0

    def more() -> None:
        nonlocal count
        kept.add(row(count))
        count += 1

    kept = Journal(path, more)
    kept.flush()
    kept.flush()
    kept.close(LAST)
    assert steps(path) == [0, 1, 2]


def test_points_wait_for_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_MOST_ROWS", 3)
    kept = Journal(path)
    whole, room = os.pwrite, [1, 1]

    def nearly_full(descriptor: int, data: bytes, at: int) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        room.pop()
        return whole(descriptor, data, at)

    with monkeypatch.context() as disk:
        disk.setattr(os, "pwrite", nearly_full)
        for step in range(10):
            kept.add(row(step))
        with pytest.raises(OSError, match="No space left"):
            kept.flush()
        kept.add(row(10))
        assert steps(path) == [0, 1, 2, 3, 4, 5]
    kept.close(LAST)
    assert steps(path) == list(range(11))


def test_the_thread_survives_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.01)
    refused = []

    def full(*_: object) -> int:
        refused.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "pwrite", full)
        kept = Journal(path)
        kept.add(row(0))
        while len(refused) < 3:
            time.sleep(0.01)
    while not steps(path):
        time.sleep(0.01)
    kept.close(LAST)
    assert steps(path) == [0]


def test_a_forked_child_writes_nothing(path: Path) -> None:
    kept = Journal(path)
    kept.add(row(0))

    def child() -> bool:
        kept.add(row(1))
        kept.flush()
        kept.write(records.noted("from a child"))
        kept.sync()
        return not kept.is_own

    assert in_a_child(child)
    assert kept.is_own
    assert told(path) == []
    kept.close(LAST)
    assert steps(path) == [0]


def test_on_a_disk_that_stays_full_the_queue_is_thinned_and_the_loss_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(journal, "MOST_BYTES", 30 * 1000)
    write, full = os.pwrite, True

    def filled(descriptor: int, content: bytes, at: int) -> int:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, content, at)

    monkeypatch.setattr(os, "pwrite", filled)
    kept = Journal(path)
    for step in range(5000):
        kept.add(row(step))
    while len(kept._rows) > 200:
        time.sleep(0.01)
    full = False
    kept.close(LAST)
    left = steps(path)
    assert left == sorted(left)
    assert left[-1] == 4999
    assert 20 < len(left) <= 110
    (lost,) = [e.text for e in told(path) if isinstance(e, Noted) and "lost" in e.text]
    assert lost.startswith(f"{5000 - len(left)} log calls of the steps ")
    assert lost.endswith("were lost: the disk was full, and no more than 0 MB wait in memory")


def test_the_last_record_waits_for_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "AGAIN_SECONDS", 0.0)
    write, refusals = os.pwrite, [1, 1, 1]

    def filled(descriptor: int, content: bytes, at: int) -> int:
        if refusals:
            refusals.pop()
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, content, at)

    kept = Journal(path)
    monkeypatch.setattr(os, "pwrite", filled)
    kept.add(row(0))
    kept.close(LAST)
    assert steps(path) == [0]
    assert isinstance(told(path)[-1], Noted)
