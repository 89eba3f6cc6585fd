"""Curves, and blocks of logged points on their way from a training loop to the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one trial: steps strictly rising, values as logged (NaN and infinity kept).

    `seconds` is the time since the attempt began. Shapes: all three are `(n,)`.
    """

    steps: Ints
    values: Floats
    seconds: Floats

    @staticmethod
    def of(steps: ArrayLike, values: ArrayLike, seconds: ArrayLike | None = None) -> Curve:
        """Arrays from whatever numpy accepts; a step logged twice keeps its last value.

        >>> Curve.of([1, 2, 2], [0.5, 0.4, 0.3])
        Curve(2 points, steps 1 to 2, last value 0.3)
        """
        x = np.asarray(steps, dtype=np.int64)
        y = np.asarray(values, dtype=np.float64)
        t = np.zeros(len(x)) if seconds is None else np.asarray(seconds, dtype=np.float64)
        rises = np.diff(x)
        if np.any(rises < 0):
            raise ValueError("the steps of a curve must not go back")
        if not np.all(rises):
            last = np.append(rises > 0, True)
            x, y, t = x[last], y[last], t[last]
        return Curve(x, y, t)

    def until(self, step: int) -> Curve:
        """The points at or before a step."""
        n = int(np.searchsorted(self.steps, step, side="right"))
        return Curve(self.steps[:n], self.values[:n], self.seconds[:n])

    def then(self, later: Curve) -> Curve:
        """This curve followed by a later one, which supersedes what it overlaps."""
        if not len(later.steps):
            return self
        kept = self.until(int(later.steps[0]) - 1)
        return Curve(
            np.concatenate([kept.steps, later.steps]),
            np.concatenate([kept.values, later.values]),
            np.concatenate([kept.seconds, later.seconds]),
        )

    def __len__(self) -> int:
        return len(self.steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Curve) and (
            np.array_equal(self.steps, other.steps)
            and np.array_equal(self.values, other.values, equal_nan=True)
        )

    def __repr__(self) -> str:
        if not len(self):
            return "Curve(no points)"
        ends = f"steps {self.steps[0]} to {self.steps[-1]}, last value {self.values[-1]:g}"
        return f"Curve({len(self)} points, {ends})"


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive log calls with the same metrics, as columns.

    Shapes: `steps` and `seconds` are `(n,)`, `values` is `(len(names), n)`.
    """

    names: tuple[str, ...]
    steps: Ints
    seconds: Floats
    values: Floats

    @staticmethod
    def of(names: Sequence[str], rows: Sequence[tuple[int, float, Sequence[float]]]) -> Block:
        """A block from (step, seconds, values) rows."""
        return Block(
            tuple(names),
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.float64),
            np.array([row[2] for row in rows], dtype=np.float64).reshape(len(rows), len(names)).T,
        )

    def __len__(self) -> int:
        return len(self.steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and (
            self.names == other.names
            and np.array_equal(self.steps, other.steps)
            and np.array_equal(self.values, other.values, equal_nan=True)
        )


def columns(blocks: Sequence[Block]) -> dict[str, Curve]:
    """The curve of each metric over consecutive blocks of one attempt."""
    parts: dict[str, list[tuple[Ints, Floats, Floats]]] = {}
    for block in blocks:
        for row, name in enumerate(block.names):
            parts.setdefault(name, []).append((block.steps, block.values[row], block.seconds))
    return {
        name: Curve.of(*(np.concatenate(column) for column in zip(*pieces, strict=True)))
        for name, pieces in parts.items()
    }
