"""The points of attempts in the store: few large blocks, made of the small ones that arrive."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, true

from tunebook.core.curves import Block, Curve, Floats, Ints
from tunebook.core.errors import StoreError
from tunebook.storage import chunks, schema

FULL = 65_536  # points: a full block is not rewritten while its attempt runs

# The points of each metric as (steps, values, seconds), in the order in which they came.
Parts: TypeAlias = dict[str, list[tuple[Ints, Floats, Floats]]]


_INSERT_BLOCK, _INSERT_COLUMN = insert(schema.blocks), insert(schema.columns)


def parts_of(blocks: Iterable[Block]) -> Parts:
    """Blocks taken apart into metrics."""
    parts: Parts = {}
    for block in blocks:
        for name, values in zip(block.names, block.values, strict=True):
            parts.setdefault(name, []).append((block.steps, values, block.seconds))
    return parts


def curves(parts: Parts) -> dict[str, Curve]:
    """The curve of each metric: a point gives way to a later one at the same step or before it."""
    # Metrics that were logged together have one array of steps, which is looked at once.
    rising: dict[int, bool] = {}
    return {name: _join(pieces, rising) for name, pieces in parts.items()}


def merge(parts: Parts) -> tuple[Block, ...]:
    """The curves as one block for each set of metrics that were logged together.

    >>> arrived = [Block.of(["a", "b"], [(step, 0.1, [3, 4])]) for step in (1, 2)]
    >>> [(block.names, len(block)) for block in merge(parts_of(arrived))]
    [(('a', 'b'), 2)]
    """
    groups: dict[tuple[bytes, bytes], dict[str, Curve]] = {}
    for name, curve in curves(parts).items():
        if len(curve):
            shared = (curve.steps.tobytes(), curve.seconds.tobytes())
            groups.setdefault(shared, {})[name] = curve
    return tuple(_block(group) for group in groups.values())


def save(connection: Connection, attempt: int, blocks: Iterable[Block]) -> None:
    """Write blocks that `merge` has made; full ones come first, for `consolidate_tail`."""
    pieces = (piece for block in blocks for piece in _pieces(block))
    for block in sorted(pieces, key=lambda piece: len(piece) < FULL):
        inserted = connection.execute(
            _INSERT_BLOCK,
            {
                "attempt": attempt,
                "count": len(block),
                "first_step": int(block.steps[0]),
                "last_step": int(block.steps[-1]),
                "steps": chunks.pack_ints(block.steps),
                "seconds": chunks.pack_seconds(block.seconds),
            },
        )
        connection.execute(
            _INSERT_COLUMN,
            [
                {"block": inserted.lastrowid, "metric": name, "values": chunks.pack_floats(values)}
                for name, values in zip(block.names, block.values, strict=True)
            ],
        )


def load(
    connection: Connection,
    chosen: ColumnElement[bool],
    metrics: Collection[str] | None = None,
) -> dict[int, Parts]:
    """The stored points of each chosen attempt, by its key."""
    wanted = true() if metrics is None else schema.columns.c.metric.in_(metrics)
    # The order is that of the indexes: SQLite walks them and sorts nothing.
    rows = connection.execute(
        select(
            schema.attempts.c.id,
            schema.blocks.c.id,
            schema.blocks.c.count,
            schema.blocks.c.steps,
            schema.blocks.c.seconds,
            schema.columns.c.metric,
            schema.columns.c["values"],
        )
        .select_from(schema.trials.join(schema.attempts).join(schema.blocks).join(schema.columns))
        .where(chosen, wanted)
        .order_by(schema.trials.c.number, schema.attempts.c.number, schema.blocks.c.id)
    )
    found: dict[int, Parts] = {}
    for (attempt, _), block in groupby(rows, key=itemgetter(0, 1)):
        parts = found.setdefault(attempt, {})
        steps: Ints | None = None
        for _, _, count, packed_steps, packed_seconds, metric, packed_values in block:
            try:
                if steps is None:
                    steps = chunks.unpack_ints(packed_steps, count)
                    seconds = chunks.unpack_seconds(packed_seconds, count)
                values = chunks.unpack_floats(packed_values, count)
            except chunks.DamagedPoints as error:
                raise chunks.DamagedPoints(_where(connection, attempt, metric, error)) from None
            parts.setdefault(metric, []).append((steps, values, seconds))
    return found


def _where(connection: Connection, attempt: int, metric: str, error: StoreError) -> str:
    """An error with the place of the points that it is about."""
    study, trial, number = connection.execute(
        select(schema.studies.c.name, schema.trials.c.number, schema.attempts.c.number)
        .select_from(schema.studies.join(schema.trials).join(schema.attempts))
        .where(schema.attempts.c.id == attempt)
    ).one()
    return f"study {study}, trial {trial}, attempt {number}, metric {metric!r}: {error}"


def consolidate(connection: Connection, attempt: int, first: int = 0) -> None:
    """Write the blocks of an attempt, from the key `first` on, anew as few large ones."""
    those = (schema.blocks.c.attempt == attempt) & (schema.blocks.c.id >= first)
    found = load(connection, those)
    connection.execute(delete(schema.blocks).where(those))
    save(connection, attempt, merge(found.get(attempt, {})))


def consolidate_tail(connection: Connection, attempt: int) -> None:
    """The same, but for the full blocks at the beginning: a long run is not written ever again."""
    not_full = (schema.blocks.c.attempt == attempt) & (schema.blocks.c.count < FULL)
    first = connection.execute(select(func.min(schema.blocks.c.id)).where(not_full)).scalar_one()
    if first is not None:
        consolidate(connection, attempt, first)


def _join(pieces: Sequence[tuple[Ints, Floats, Floats]], rising: dict[int, bool]) -> Curve:
    if len(pieces) == 1:
        steps, values, seconds = pieces[0]
        if id(steps) not in rising:
            rising[id(steps)] = not np.any(steps[1:] <= steps[:-1])
        if rising[id(steps)]:
            return Curve(steps, values, seconds)
    else:
        steps, values, seconds = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if np.any(steps[1:] <= steps[:-1]):
        lowest_from = np.minimum.accumulate(steps[::-1])[::-1]
        kept = np.append(steps[:-1] < lowest_from[1:], True)
        steps, values, seconds = steps[kept], values[kept], seconds[kept]
    return Curve(steps, values, seconds)


def _block(group: dict[str, Curve]) -> Block:
    first = next(iter(group.values()))
    values = np.stack([curve.values for curve in group.values()])
    return Block(tuple(group), first.steps, first.seconds, values)


def _pieces(block: Block) -> Iterator[Block]:
    for start in range(0, len(block), FULL):
        span = slice(start, start + FULL)
        yield Block(block.names, block.steps[span], block.seconds[span], block.values[:, span])
