"""An attempt in this very process: the lock that shows it alive, and its run."""

from __future__ import annotations

from collections.abc import Callable

from tunebook.execution import beginning
from tunebook.execution.run import SpoolRun
from tunebook.execution.spec import Spec, StopRequest
from tunebook.files import locks


class RunHere:
    """A run and the lock of its attempt, both held by this process until `release`."""

    def __init__(self, run: SpoolRun, lock: locks.Lock) -> None:
        self.run = run
        self._lock = lock

    def release(self) -> None:
        self._lock.release()


def begin(spec: Spec, asked: Callable[[], StopRequest | None] | None = None) -> RunHere | None:
    """Begin an attempt in this process; None if another process has it, or has had it."""
    spec.write()
    lock = beginning.take(spec)
    return None if lock is None else RunHere(SpoolRun(spec, asked), lock)
