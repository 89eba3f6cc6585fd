"""Locks that show whether a process lives: the kernel frees them at its death, however it dies.

They are record locks (`fcntl.lockf`): forked children do not inherit them, so a grandchild that
outlives its parent does not keep the lock. The price: a process loses its lock when it closes *any*
descriptor of the file, which is why the files of held locks are never opened a second time here.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

_held: set[tuple[int, int]] = set()
os.register_at_fork(after_in_child=_held.clear)


class Lock:
    """A lock held by this process until `release` or its death."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._identity = _identity(descriptor)
        _held.add(self._identity)

    def write(self, content: bytes) -> None:
        """Say in the file who holds it; see `holder`."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, content, 0)

    def release(self) -> None:
        _held.discard(self._identity)
        os.close(self._descriptor)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def acquire(path: Path) -> Lock | None:
    """The lock, or None if a living process (this one included) holds it."""
    if _holds(path):
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return Lock(descriptor)


def is_held(path: Path) -> bool:
    """Whether a living process (this one included) holds the lock."""
    if not path.exists():
        return False
    lock = acquire(path)
    if lock is None:
        return True
    lock.release()
    return False


def holder(path: Path) -> bytes:
    """What the holder wrote. Not for a process that may hold the lock itself."""
    return b"" if _holds(path) or not path.exists() else path.read_bytes()


def _holds(path: Path) -> bool:
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    return (status.st_dev, status.st_ino) in _held


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino
