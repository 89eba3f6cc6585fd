"""Scalars of TensorBoard's event files: every point, from files that grow or were cut short.

A file holds records (length, checksum of the length, content, checksum). Without a length that is
sound nobody knows where the next record begins; a damaged content costs its own points only. One
that ends in a zero may not be whole yet: some file systems show the new size of a file before what
is new in it.

A content is a protocol buffer: Event {wall_time = 1, step = 2, summary = 5}, Summary {value = 1},
Value {tag = 1, simple_value = 2, tensor = 8}, Tensor {dtype = 1, content = 4, and one field of
values for each type}.
"""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tunebook.execution.rows import Row

_LENGTH = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
# Scalars are short: what is longer is an image, a histogram or a graph.
_LARGEST = 1 << 20
# A checksum takes a tenth of a second for a megabyte: what is longer than this, and holds no scalar
# that could do harm, is passed over without one.
_CHECKED = 1 << 12
_FIXED = {1: "<d", 5: "<f"}
# How the content of a tensor reads, by its type: float, double, int32, int64 and float16.
_CONTENTS = {1: "<f", 2: "<d", 3: "<i", 9: "<q", 19: "<e"}
# The field that holds the values instead, and how one of them reads (None: a varint).
_VALUES = {1: (5, "<f"), 2: (6, "<d"), 3: (7, None), 9: (10, None)}


class _Event(NamedTuple):
    """The step of an event, when it was written, in seconds since the epoch, and its scalars."""

    step: int
    at: float | None
    scalars: list[tuple[str, float]]


class EventFolder:
    """The event files below a folder, in the order of their names; those there already are old.

    The tag of a file in a subfolder begins with the subfolder, as TensorBoard shows it. `note` is
    told what of a file cannot be read, once for each kind of damage.
    """

    def __init__(self, folder: Path, note: Callable[[str], None] = lambda _: None) -> None:
        self._folder = folder
        self._note = note
        self._files = {path: _EventFile(path, note, path.stat().st_size) for path in self._found()}

    def news(self, *, last: bool = False) -> Iterator[Row]:
        """The scalars written since the last call; the last time, nothing more will be written."""
        for path in self._found():
            file = self._files.setdefault(path, _EventFile(path, self._note))
            place = path.parent.relative_to(self._folder).as_posix()
            prefix = "" if place == "." else f"{place}/"
            for event in file.news(last):
                metrics = {f"{prefix}{tag}": value for tag, value in event.scalars}
                yield Row(event.step, metrics, at=event.at)

    def _found(self) -> list[Path]:
        return sorted(path for path in self._folder.rglob("*tfevents*") if path.is_file())


class _EventFile:
    """One file, read from where the last whole record ended."""

    def __init__(self, path: Path, note: Callable[[str], None], offset: int = 0) -> None:
        self._path = path
        self._note = note
        self._offset = offset
        self._broken = False
        self._told = False

    def news(self, last: bool) -> Iterator[_Event]:
        if self._broken:
            return
        try:
            with self._path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                while (content := self._record(file, size, last)) is not None:
                    event = _event(content)
                    if event.scalars:
                        yield event
        except OSError:
            return

    def _record(self, file: Any, size: int, last: bool) -> bytes | None:
        """The content of the next record, empty if it is of no use; None if none is whole."""
        file.seek(self._offset)
        header = file.read(_LENGTH.size)
        if len(header) < _LENGTH.size:
            return None
        length, checksum = _LENGTH.unpack(header)
        if _masked_crc(header[:8]) != checksum:
            if last or header[-1]:
                self._leave("has a damaged length" if any(header) else "is zero")
            return None
        end = self._offset + _LENGTH.size + length + _CHECKSUM.size
        if end > size:
            return None
        content = b""
        if length <= _LARGEST:
            data = bytes(file.read(length + _CHECKSUM.size))
            content, given = data[:length], data[length:]
            if not _is_sound(content, given):
                if not last and not any(given[-1:]):
                    return None
                self._pass_over()
                content = b""
        self._offset = end
        return content

    def _leave(self, what: str) -> None:
        self._broken = True
        self._note(
            f"{self._path.name}: the record at byte {self._offset} {what}; "
            "the rest of the file is left out"
        )

    def _pass_over(self) -> None:
        if not self._told:
            self._told = True
            self._note(
                f"{self._path.name}: the record at byte {self._offset} is damaged, as its checksum "
                "says; such points are left out"
            )


def _is_sound(content: bytes, checksum: bytes) -> bool:
    """Whether a content is what was written; of a long one without scalars nobody asks."""
    if len(content) > _CHECKED and not _event(content).scalars:
        return True
    return _CHECKSUM.pack(_masked_crc(content)) == checksum


def _event(content: bytes) -> _Event:
    step, at, scalars = 0, None, list[tuple[str, float]]()
    try:
        for field, value in _fields(content):
            if field == 1:
                at = value if isinstance(value, float) else None
            elif field == 2:
                step = max(value, 0)
            elif field == 5:
                values = (part for number, part in _fields(value) if number == 1)
                scalars += [scalar for part in values if (scalar := _scalar(part))]
    except (ValueError, IndexError, TypeError, struct.error):
        # Another program's record, or a damaged one: the next may be sound.
        return _Event(0, None, [])
    return _Event(step, at, scalars)


def _scalar(content: bytes) -> tuple[str, float] | None:
    fields = dict(_fields(content))
    number = fields[2] if 2 in fields else _tensor(fields[8]) if 8 in fields else None
    tag = fields.get(1, b"").decode(errors="replace")
    return (tag, float(number)) if number is not None and tag else None


def _tensor(content: bytes) -> float | None:
    """The value of a tensor of one number."""
    fields = dict(_fields(content))
    kind = fields.get(1, 0)
    if 4 in fields and kind in _CONTENTS:
        return _only(_CONTENTS[kind], fields[4])
    field, layout = _VALUES.get(kind, (0, None))
    data = fields.get(field)
    if not isinstance(data, bytes):
        return data
    if layout is not None:
        return _only(layout, data)
    number, position = _varint(data, 0)
    return number if position == len(data) else None


def _only(layout: str, data: bytes) -> float | None:
    return struct.unpack(layout, data)[0] if len(data) == struct.calcsize(layout) else None


def _fields(content: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an int, a float, or bytes."""
    position = 0
    while position < len(content):
        key, position = _varint(content, position)
        kind = key & 7
        if kind == 0:
            value: Any
            value, position = _varint(content, position)
        elif kind in _FIXED:
            (value,) = struct.unpack_from(_FIXED[kind], content, position)
            position += struct.calcsize(_FIXED[kind])
        elif kind == 2:
            length, position = _varint(content, position)
            value = content[position : position + length]
            if len(value) < length:
                raise ValueError("a field is cut short")
            position += length
        else:
            raise ValueError(f"a field of kind {kind}")
        yield key >> 3, value


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """A number in base 128, and where it ends; negative numbers have 64 bits."""
    number = shift = 0
    while shift < 64:
        byte = content[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number - (1 << 64) if number >> 63 else number), position
        shift += 7
    raise ValueError("a number is too long")


def _masked_crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    table = _table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


@functools.cache
def _table() -> tuple[int, ...]:
    """CRC-32C, byte by byte."""
    table = []
    for number in range(256):
        for _ in range(8):
            number = (number >> 1) ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return tuple(table)
