"""Following an attempt by what its processes leave behind: the spool tells, the lock shows life.

The same for an attempt of our own and for one that an earlier coordinator began.
"""

from __future__ import annotations

from collections.abc import Iterator

from tunebook.core.errors import StoreError
from tunebook.core.events import Event, Finished, Logged
from tunebook.execution import outcomes, records
from tunebook.execution.spec import Spec
from tunebook.files import locks, space, spool


class Follower:
    """Reads the spool of one attempt from its beginning to its end."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.finished = False
        self._offset = 0
        self._lived = 0.0
        self._ending: Finished | None = None

    def news(self) -> Iterator[Event]:
        """What has been written since the last call, but for the ending."""
        for record, offset in spool.read(self.spec.spool, self._offset):
            self._offset = offset
            event = records.event(self.spec.attempt, record, offset)
            if isinstance(event, Finished):
                self._ending = event
                continue
            if isinstance(event, Logged):
                last = (float(block.seconds[-1]) for block in event.blocks if len(block))
                self._lived = max(self._lived, *last, 0.0)
            yield event

    def give_up_if_dead(self) -> Iterator[Event]:
        """Once no process of the attempt lives: its last words and its ending.

        An attempt that left no ending gets one. The lock is held meanwhile and a fence is left
        behind: a keeper that is only now starting finds it and leaves, so that what is declared
        dead stays dead.
        """
        if self.finished:
            return
        try:
            lock = locks.acquire(self.spec.lock)
        except FileNotFoundError:
            self.finished = True
            yield self._without(f"its folder {self.spec.folder} was removed")
            return
        if lock is None:
            return
        with lock:
            yield from self.news()
            if self._ending is None:
                try:
                    self.spec.fence.touch(mode=0o600)
                except OSError as refusal:
                    # A folder that was removed just now is told of at the next look.
                    if not space.is_full(refusal) and self.spec.folder.exists():
                        raise StoreError(
                            f"trial {self.spec.attempt.trial.number} has died, and that cannot be "
                            f"written down in {self.spec.folder}: {refusal.strerror}; when it can, "
                            "run again: nothing is lost"
                        ) from refusal
                    # Nobody is given up before that is written down.
                    return
            self.finished = True
            yield self._ending or self._without("its processes died without a word")

    def _without(self, reason: str) -> Finished:
        """An ending for one that left none; it lived at least until the last point it logged."""
        return Finished(self.spec.attempt, outcomes.vanished(reason), self._lived)
