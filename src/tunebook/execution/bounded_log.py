"""The log of a program that may print without end: its beginning and its end are kept.

The file is always whole text to look at: the first bytes, a line that says how much was left out,
the last bytes. It grows to its limit and is cut in place, so that each byte is copied about once.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FIRST_BYTES = 1 << 20
LAST_BYTES = 4 << 20
TAIL_BYTES = 16 << 10
_COPIED = 1 << 16
_GAP = "\n[tunebook left out {:>20} bytes here]\n"
_GAP_BYTES = len(_GAP.format(0))


class BoundedLog:
    """Appends to a file whose size stays bounded; what a disk refuses is left out."""

    def __init__(self, path: Path, first: int = FIRST_BYTES, last: int = LAST_BYTES) -> None:
        self._first, self._last = first, last
        self._dropped = 0
        self._refused = 0
        self._tail = b""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    @property
    def tail(self) -> str:
        """The end of what was written, as text."""
        return self._tail.decode(errors="replace")

    def write(self, content: bytes) -> None:
        self._tail = (self._tail + content)[-TAIL_BYTES:]
        if self._refused:
            content = f"\n[the disk refused {self._refused} bytes here]\n".encode() + content
        try:
            # This process may write to the same file by itself, as when it breaks.
            end = os.lseek(self._descriptor, 0, os.SEEK_END)
            self._put(content, end)
            self._refused = 0
            if end + len(content) > self._kept + self._last:
                self._cut(end + len(content))
        except OSError:
            self._refused += len(content)

    def close(self) -> None:
        """Leave no more than the first and the last bytes."""
        with suppress(OSError):
            end = os.lseek(self._descriptor, 0, os.SEEK_END)
            if end > self._kept:
                self._cut(end)
        os.close(self._descriptor)

    @property
    def _kept(self) -> int:
        return self._first + _GAP_BYTES + self._last

    def _cut(self, end: int) -> None:
        """Move the last bytes to behind the first ones."""
        begin = self._first + (_GAP_BYTES if self._dropped else 0)
        start = max(end - self._last, begin)
        self._dropped += start - begin
        position = self._first
        self._put(_GAP.format(self._dropped).encode(), position)
        position += _GAP_BYTES
        while start < end:
            content = os.pread(self._descriptor, min(_COPIED, end - start), start)
            self._put(content, position)
            start += len(content)
            position += len(content)
        os.ftruncate(self._descriptor, position)

    def _put(self, content: bytes, position: int) -> None:
        while content:
            written = os.pwrite(self._descriptor, content, position)
            content, position = content[written:], position + written
