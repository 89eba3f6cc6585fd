"""Spools: append-only files of checksummed records, one writer each, read while they grow.

A record is its length, its CRC-32 and its content. A record cut short by a crash is no record: the
reader stops before it, and the next writer cuts it off.
"""

from __future__ import annotations

import errno
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from tunebook.files import atomic, space

_HEADER = struct.Struct("<II")
HEADER_BYTES = _HEADER.size
_LARGEST = 1 << 28
AGAIN_SECONDS = 0.2
T = TypeVar("T")


def when_room(write: Callable[[], T]) -> T:
    """Write as soon as the disk has room for it; any other refusal is raised."""
    while True:
        try:
            return write()
        except OSError as refusal:
            if not space.is_full(refusal):
                raise
            time.sleep(AGAIN_SECONDS)


class SpoolWriter:
    """Appends records to a file that no one else writes at the time."""

    def __init__(self, path: Path) -> None:
        self._new_in = None if path.exists() else path.parent
        self._failed: OSError | None = None
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._end = _valid_end(self._descriptor)
        os.ftruncate(self._descriptor, self._end)

    def append(self, content: bytes) -> None:
        """Add a record, or raise; then it is there as a whole or not at all."""
        if not 0 < len(content) <= _LARGEST:
            raise ValueError(f"a record has 1 to {_LARGEST} bytes, got {len(content)}")
        record = memoryview(_HEADER.pack(len(content), zlib.crc32(content)) + content)
        position = self._end
        try:
            while record:
                written = os.pwrite(self._descriptor, record, position)
                if written == 0:
                    # No disk should do that. To try again could go on for ever.
                    raise OSError(errno.EIO, "the disk took none of the bytes it was given")
                position += written
                record = record[written:]
            self._end = position
        except BaseException:
            # The disk has refused, or Ctrl-C was pressed, perhaps when the record was whole.
            self._end = _valid_end(self._descriptor, self._end)
            os.ftruncate(self._descriptor, self._end)
            raise

    def sync(self) -> None:
        """Return when every record so far is on the disk.

        Once the disk has failed to sync, no later call can succeed: the kernel forgets what it
        could not write.
        """
        if self._failed is not None:
            raise self._failed
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            self._failed = error
            raise
        if self._new_in is not None:
            # The name of a new file is not durable before its folder is.
            atomic.sync(self._new_in)
            self._new_in = None

    def close(self) -> None:
        os.close(self._descriptor)


def read(path: Path, offset: int = 0) -> Iterator[tuple[bytes, int]]:
    """The whole records from an offset on, each with the offset after it.

    Ends at the first record that is not whole: it may be in writing, or was cut by a crash.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        while (record := _record_at(descriptor, offset)) is not None:
            offset += _HEADER.size + len(record)
            yield record, offset
    finally:
        os.close(descriptor)


def rest(path: Path, end: int) -> bytes:
    """What follows the end of the last whole record; nothing if there is no such file."""
    try:
        with path.open("rb") as file:
            file.seek(end)
            return file.read()
    except FileNotFoundError:
        return b""


def may_be_cut(rest: bytes) -> bool:
    """Whether what follows the last whole record may be one that a crash has cut.

    Then it reaches beyond the end of the file, or the file grew without its content being written,
    which reads as zeros.
    """
    written = rest.rstrip(b"\0")
    if len(written) < _HEADER.size:
        return True
    length: int = _HEADER.unpack_from(written)[0]
    return len(written) - _HEADER.size < length <= _LARGEST


def _record_at(descriptor: int, offset: int) -> bytes | None:
    header = os.pread(descriptor, _HEADER.size, offset)
    if len(header) < _HEADER.size:
        return None
    length, checksum = _HEADER.unpack(header)
    # A file that grew without its content being written reads as zeros: no record has length zero.
    if not 0 < length <= _LARGEST:
        return None
    content = os.pread(descriptor, length, offset + _HEADER.size)
    if len(content) < length or zlib.crc32(content) != checksum:
        return None
    return content


def _valid_end(descriptor: int, offset: int = 0) -> int:
    while (record := _record_at(descriptor, offset)) is not None:
        offset += _HEADER.size + len(record)
    return offset
