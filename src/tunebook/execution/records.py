"""The records of an attempt's spool: logged points and the few things that happen to an attempt.

Texts of programs go into the book from here. The secrets of this process's environment do not.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tunebook.core import codec, masking
from tunebook.core.curves import Block
from tunebook.core.errors import StoreError
from tunebook.core.events import Event, Finished, Logged, Noted, Resumed, Started
from tunebook.core.trials import Attempt, Outcome

# One log call: step, seconds since the attempt began, names, values.
Row = tuple[int, float, tuple[str, ...], tuple[float, ...]]

_POINTS, _FACT = b"P", b"F"
_LENGTH = struct.Struct("<I")


def started(host: str, pid: int) -> bytes:
    return _fact("started", host=host, pid=pid)


def resumed(source: int, step: int) -> bytes:
    return _fact("resumed", source=source, step=step)


def noted(text: str) -> bytes:
    return _fact("noted", text=_masked(text))


def finished(outcome: Outcome, seconds: float) -> bytes:
    told = replace(outcome, reason=_masked(outcome.reason), detail=_masked(outcome.detail))
    return _fact("finished", outcome=codec.dumps(told), seconds=seconds)


def is_finished(record: bytes) -> bool:
    return record[:1] == _FACT and json.loads(record[1:])["fact"] == "finished"


def points(blocks: Sequence[Block]) -> bytes:
    """Blocks as little-endian columns behind a short description."""
    header = json.dumps([[block.names, len(block)] for block in blocks]).encode()
    columns = b"".join(
        column.astype(kind).tobytes()
        for block in blocks
        for column, kind in ((block.steps, "<i8"), (block.seconds, "<f8"), (block.values, "<f8"))
    )
    return _POINTS + _LENGTH.pack(len(header)) + header + columns


def event(attempt: Attempt, record: bytes, offset: int) -> Event:
    """The event that a record tells; `offset` is where the next record begins."""
    if record[:1] == _POINTS:
        return Logged(attempt, tuple(_blocks(record)), offset)
    fact = json.loads(record[1:])
    match fact["fact"]:
        case "started":
            return Started(attempt, fact["host"], fact["pid"])
        case "resumed":
            return Resumed(attempt, fact["source"], fact["step"])
        case "noted":
            return Noted(attempt, fact["text"])
        case "finished":
            return Finished(attempt, codec.loads(fact["outcome"]), fact["seconds"])
    raise StoreError(
        f"the spool of {attempt.name} holds a record that this tunebook does not know, "
        f"{fact['fact']!r}; upgrade tunebook"
    )


def blocks_of(rows: Sequence[Row]) -> list[Block]:
    """Log calls as columns. Every metric is in one block only, so that its steps rise there."""
    calls: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        calls.setdefault(row[2], []).append(row)
    named = [name for names in calls for name in names]
    if len(set(named)) < len(named):
        # Some metrics come with different others at different times: each one gets its own block.
        calls = {}
        for step, seconds, names, values in rows:
            for name, value in zip(names, values, strict=True):
                calls.setdefault((name,), []).append((step, seconds, (name,), (value,)))
    return [
        Block.of(names, [(step, seconds, values) for step, seconds, _, values in same])
        for names, same in calls.items()
    ]


def _masked(text: str) -> str:
    return masking.mask(text, masking.secrets_of(os.environ)) if text else text


def _fact(kind: str, **content: Any) -> bytes:
    return _FACT + json.dumps({"fact": kind, **content}).encode()


def _blocks(record: bytes) -> Iterable[Block]:
    start = 1 + _LENGTH.size
    (length,) = _LENGTH.unpack_from(record, 1)
    description = json.loads(record[start : start + length])
    position = start + length
    for names, count in description:
        steps = np.frombuffer(record, "<i8", count, position).astype(np.int64)
        seconds = np.frombuffer(record, "<f8", count, position + 8 * count).astype(np.float64)
        values = np.frombuffer(record, "<f8", count * len(names), position + 16 * count)
        position += 8 * count * (2 + len(names))
        yield Block(tuple(names), steps, seconds, values.astype(np.float64).reshape(-1, count))
