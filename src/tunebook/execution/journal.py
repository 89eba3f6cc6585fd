"""What a run has to tell, on its way into the spool of its attempt.

Points wait in a queue, which a thread writes out twice a second. So the training loop never waits
for a disk, and a crash loses half a second of its curve at most. On a full disk the queue grows up
to a limit. Then it is thinned: training goes on, the curve keeps its shape, and a note tells what
was lost. What an attempt comes to in the end waits for room however long it takes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from tunebook.execution import records
from tunebook.files.spool import SpoolWriter, when_room

FLUSH_SECONDS = 0.5
# A record is made in one go, and while a large one is made the training loop would have to wait.
_MOST_ROWS = 4096
MOST_BYTES = 10 * 2**20
# What Python takes for a row, and for each of its values.
_ROW_BYTES, _VALUE_BYTES = 240, 48
_MOST_NOTES = 100


class Journal:
    """Belongs to the process that made it: what a forked child tells it is not written."""

    def __init__(self, path: Path, before_flush: Callable[[], None] = lambda: None) -> None:
        """Begin to write. Each flush calls `before_flush` first, which may add points."""
        self._spool = SpoolWriter(path)
        self._before_flush = before_flush
        self._rows: deque[records.Row] = deque()
        self._unsaid: deque[str] = deque(maxlen=_MOST_NOTES)
        self._lost: list[tuple[int, int, int]] = []
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
        """Write a record, before any points that are still queued, as soon as there is room."""
        if self.is_own:
            with self._writing:
                when_room(lambda: self._spool.append(record))

    def note(self, text: str) -> None:
        """Write a note now, or with the next points that the disk has room for."""
        if self.is_own:
            with self._writing:
                self._unsaid.append(text)
                with contextlib.suppress(OSError):
                    self._say()

    def flush(self) -> None:
        """Write what is queued, or raise; what was not written stays queued."""
        if not self.is_own:
            return
        # The whole of it, so that points keep their order whichever thread writes them.
        with self._writing:
            self._say()
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
        when_room(self.flush)
        self.write(last)
        self._spool.sync()
        self._spool.close()

    def _write_out(self) -> None:
        while not self._closing.wait(FLUSH_SECONDS):
            # A full disk must not end the training: the points wait, and the next round tries.
            try:
                self.flush()
            except OSError:
                self._thin()

    def _say(self) -> None:
        """Write the notes that have waited, and one on points that were lost."""
        while self._unsaid:
            self._spool.append(records.noted(self._unsaid[0]))
            self._unsaid.popleft()
        if self._lost:
            count = sum(points for points, _, _ in self._lost)
            first, last = min(f for _, f, _ in self._lost), max(e for _, _, e in self._lost)
            self._spool.append(
                records.noted(
                    f"{count} log calls of the steps {first} to {last} were lost: the disk was "
                    f"full, and no more than {MOST_BYTES >> 20} MB wait in memory"
                )
            )
            self._lost.clear()

    def _thin(self) -> None:
        """Drop every second row of a queue that has grown too long, but never the newest."""
        with self._writing:
            rows = [self._rows.popleft() for _ in range(len(self._rows))]
            while _bytes(rows) > MOST_BYTES and len(rows) > 1:
                dropped = rows[-2::-2]
                self._lost.append((len(dropped), dropped[-1][0], dropped[0][0]))
                rows = rows[::-2][::-1]
            self._rows.extendleft(reversed(rows))


def _bytes(rows: list[records.Row]) -> int:
    return sum(_ROW_BYTES + _VALUE_BYTES * len(row[3]) for row in rows)
