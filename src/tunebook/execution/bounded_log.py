"""The log of a program that may print without end: its beginning and its end are kept.

The file is always whole text to look at: the first bytes, a line that says how much was left out,
the last bytes. It grows to its limit and is cut in place, so that each byte is copied about once.

A file that others append to cannot be cut while they do. Its middle becomes a hole, which takes no
room on the disk, and it is cut once they have ended.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

from tunebook.execution.libc import libc

FIRST_BYTES = 1 << 20
LAST_BYTES = 4 << 20
TAIL_BYTES = 16 << 10
_COPIED = 1 << 16
_GAP = "\n[tunebook left out {:>20} bytes here]\n"
_GAP_BYTES = len(_GAP.format(0))
_KEEP_SIZE_AND_PUNCH_HOLE = 3


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
        asked = len(content)
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
            self._refused += asked

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


def read(path: Path, first: int = FIRST_BYTES, last: int = LAST_BYTES) -> str:
    """What a log says; without the middle of one that others still flood."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            if size <= first + 2 * last + _GAP_BYTES:
                return file.read().decode(errors="replace")
            beginning = file.read(first)
            file.seek(size - last)
            gap = _GAP.format(size - first - last).encode()
            return (beginning + gap + file.read(last)).decode(errors="replace")
    except FileNotFoundError:
        return ""


class SharedLog:
    """A log that other processes append to; whoever watches them calls `look` now and then."""

    def __init__(self, path: Path, first: int = FIRST_BYTES, last: int = LAST_BYTES) -> None:
        self._path = path
        self._first, self._last = first, last
        self._hole_end = first

    def look(self) -> None:
        """Give back the disk's room in the middle, once that is worth it."""
        size = self._size
        # Somebody may have emptied it.
        self._hole_end = self._hole_end if size >= self._hole_end else self._first
        if size - self._hole_end > 2 * self._last:
            self._hole_end = size - self._last
            with suppress(OSError):
                self._punch()

    def close(self) -> None:
        """Cut a log that was flooded, now that nobody writes to it any more."""
        if self._size > self._first + 2 * self._last + _GAP_BYTES:
            with suppress(OSError):
                BoundedLog(self._path, self._first, self._last).close()

    @property
    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def _punch(self) -> None:
        """A system that knows no holes keeps everything until the end."""
        fallocate = getattr(libc, "fallocate", None)
        if fallocate is None:
            return
        descriptor = os.open(self._path, os.O_WRONLY)
        try:
            place = ctypes.c_long(self._first), ctypes.c_long(self._hole_end - self._first)
            fallocate(descriptor, _KEEP_SIZE_AND_PUNCH_HOLE, *place)
        finally:
            os.close(descriptor)
