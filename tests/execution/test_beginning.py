"""Who begins an attempt, and that nobody does so twice."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from attempts import read, spec_in
from tunebook.core.events import Started
from tunebook.execution import beginning
from tunebook.execution.spec import Spec
from tunebook.files import locks, spool


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    spec = spec_in(tmp_path)
    spec.write()
    return spec


def test_the_first_begins(spec: Spec) -> None:
    assert not beginning.has_begun(spec)
    lock = beginning.take(spec)
    assert lock is not None
    assert beginning.has_begun(spec)
    assert locks.is_held(spec.lock)
    assert beginning.take(spec) is None
    lock.release()
    first, *_ = read(spec)
    assert isinstance(first, Started)
    assert first.pid == os.getpid()


def test_nobody_begins_twice(spec: Spec) -> None:
    lock = beginning.take(spec)
    assert lock is not None
    lock.release()
    before = spec.spool.read_bytes()
    assert beginning.take(spec) is None
    assert spec.spool.read_bytes() == before
    assert not locks.is_held(spec.lock)


def test_what_was_given_up_does_not_begin(spec: Spec) -> None:
    spec.fence.touch()
    assert beginning.take(spec) is None
    assert not beginning.has_begun(spec)
    assert not locks.is_held(spec.lock)


def test_an_empty_spool_is_no_beginning(spec: Spec) -> None:
    spec.spool.touch()
    assert not beginning.has_begun(spec)


def test_a_full_disk_is_waited_for(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    room = iter([False, False, True])
    write = os.pwrite

    def nearly_full(descriptor: int, content: bytes, at: int) -> int:
        if not next(room):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, content, at)

    monkeypatch.setattr(spool, "AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(os, "pwrite", nearly_full)
    lock = beginning.take(spec)
    assert lock is not None
    assert beginning.has_begun(spec)
    lock.release()


def test_a_failing_disk_frees_the_lock(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pwrite", broken)
    with pytest.raises(OSError, match="Input/output error"):
        beginning.take(spec)
    assert not locks.is_held(spec.lock)
    assert not beginning.has_begun(spec)
