"""The beginning of an attempt: whoever gets its lock begins it, and nobody does so twice."""

from __future__ import annotations

import os
import socket

from tunebook.execution import records
from tunebook.execution.spec import Spec
from tunebook.files import locks
from tunebook.files.spool import SpoolWriter, when_room


def has_begun(spec: Spec) -> bool:
    """Whether a process has ever taken up the attempt."""
    return spec.spool.exists() and spec.spool.stat().st_size > 0


def take(spec: Spec) -> locks.Lock | None:
    """Take up an attempt: its lock, with the first record written.

    None if another process has it, if one has had it, or if it was given up.
    """
    lock = locks.acquire(spec.lock)
    if lock is None:
        return None
    try:
        if not spec.fence.exists() and not has_begun(spec):
            write(spec, records.started(socket.gethostname(), os.getpid()))
            return lock
    except BaseException:
        lock.release()
        raise
    lock.release()
    return None


def write(spec: Spec, record: bytes) -> None:
    """Add a durable record to the attempt's spool, which no one else may be writing.

    On a full disk it waits: an attempt that could not say how it ended would be run again.
    """
    writer = when_room(lambda: SpoolWriter(spec.spool))
    try:
        when_room(lambda: writer.append(record))
        writer.sync()
    finally:
        writer.close()
