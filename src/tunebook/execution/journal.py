"""What a run has to tell, on its way into the spool of its attempt.

Points wait in a queue, which a thread writes out twice a second. So the training loop never waits
for a disk, and a crash loses half a second of its curve at most.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from tunebook.execution import records
from tunebook.files.spool import SpoolWriter

FLUSH_SECONDS = 0.5
# A record is made in one go, and while a large one is made the training loop would have to wait.
_MOST_ROWS = 4096


class Journal:
    """Belongs to the process that made it: what a forked child tells it is not written."""

    def __init__(self, path: Path, before_flush: Callable[[], None] = lambda: None) -> None:
        """Begin to write. Each flush calls `before_flush` first, which may add points."""
        self._spool = SpoolWriter(path)
        self._before_flush = before_flush
        self._rows: deque[records.Row] = deque()
        self._owner = os.getpid()
        self._writing = threading.RLock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write_out, name="tunebook", daemon=True)
        self._thread.start()

    @property
    def is_own(self) -> bool:
        return os.getpid() == self._owner

    def add(self, row: records.Row) -> None:
        """Queue points."""
        self._rows.append(row)

    def write(self, record: bytes) -> None:
        """Write a record now, before any points that are still queued."""
        if self.is_own:
            with self._writing:
                self._spool.append(record)

    def flush(self) -> None:
        """Write what is queued, or raise; what was not written stays queued."""
        if not self.is_own:
            return
        # The whole of it, so that points keep their order whichever thread writes them.
        with self._writing:
            self._before_flush()
            left = len(self._rows)
            while left:
                rows = [self._rows.popleft() for _ in range(min(left, _MOST_ROWS))]
                left -= len(rows)
                try:
                    self._spool.append(records.points(records.blocks_of(rows)))
                except BaseException:
                    self._rows.extendleft(reversed(rows))
                    raise

    def sync(self) -> None:
        """Write what is queued and return when it is on the disk."""
        self.flush()
        self._spool.sync()

    def close(self, last: bytes) -> None:
        """Write what is queued and a last record; return when they are on the disk."""
        self._closing.set()
        self._thread.join()
        self.flush()
        self.write(last)
        self._spool.sync()
        self._spool.close()

    def _write_out(self) -> None:
        while not self._closing.wait(FLUSH_SECONDS):
            # A full disk must not end the training: the points wait, and the next round tries.
            with contextlib.suppress(OSError):
                self.flush()
