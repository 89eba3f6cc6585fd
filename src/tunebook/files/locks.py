"""Locks that show whether a process lives: the kernel frees them at its death, however it dies.

They are record locks (`fcntl.lockf`): forked children do not inherit them, so a grandchild that
outlives its parent does not keep the lock. The price: a process loses its lock when it closes *any*
descriptor of the file, which is why the files of held locks are never opened a second time here.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

_held: set[tuple[int, int]] = set()
# Between one thread's locking of a file and its entry in the table, no other may open the file.
_table = threading.RLock()


def _forget_after_fork() -> None:
    _held.clear()
    _table.release()


os.register_at_fork(
    before=_table.acquire, after_in_parent=_table.release, after_in_child=_forget_after_fork
)


class Lock:
    """A lock held by this process until `release` or its death; made by `acquire`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._identity = _identity(descriptor)
        _held.add(self._identity)

    def write(self, content: bytes) -> None:
        """Say in the file who holds it; see `holder`."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, content, 0)

    def release(self) -> None:
        with _table:
            _held.discard(self._identity)
            os.close(self._descriptor)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def acquire(path: Path) -> Lock | None:
    """The lock, or None if a living process (this one included) holds it."""
    with _table:
        if _holds(path):
            return None
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Lock(descriptor)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise


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
    """What the holder wrote; nothing where that is this process, which must not open the file."""
    with _table:
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
