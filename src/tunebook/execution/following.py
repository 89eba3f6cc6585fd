"""Following an attempt by what its processes leave behind: the spool tells, the lock shows life.

The same for an attempt of our own and for one that an earlier coordinator began.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from tunebook.core.events import Event, Finished
from tunebook.execution import outcomes, records
from tunebook.execution.spec import Spec
from tunebook.files import locks, spool


class Follower:
    """Reads the spool of one attempt from its beginning to its end."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.finished = False
        self._offset = 0
        self._began = time.monotonic()

    def news(self) -> Iterator[Event]:
        """What has been written since the last call."""
        for record, offset in spool.read(self.spec.spool, self._offset):
            self._offset = offset
            event = records.event(self.spec.attempt, record, offset)
            self.finished = self.finished or isinstance(event, Finished)
            yield event

    def give_up_if_dead(self) -> Iterator[Event]:
        """If no process of the attempt lives, read its last words, or say that there are none.

        The lock is held meanwhile and a fence is left behind: a keeper that is only now starting
        finds it and leaves, so that what is declared dead stays dead.
        """
        if self.finished or not self.spec.folder.exists():
            return
        lock = locks.acquire(self.spec.lock)
        if lock is None:
            return
        with lock:
            self.spec.fence.touch(mode=0o600)
            yield from self.news()
            if not self.finished:
                self.finished = True
                seconds = time.monotonic() - self._began
                yield Finished(self.spec.attempt, outcomes.vanished(), seconds)
