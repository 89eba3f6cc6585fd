"""A run in memory, for tests of training code: what was logged, checkpoints in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tunebook.core.curves import Curve
from tunebook.core.study import Budget
from tunebook.files import atomic


class MemoryRun:
    """Implements `tunebook.core.protocols.Run`."""

    def __init__(self, folder: Path, params: Mapping[str, object], steps: int, seed: int = 0):
        self._base = folder
        self.params = dict(params)
        self.seed = seed
        self.budget = Budget(steps)
        self.rows: list[tuple[int, dict[str, float]]] = []
        self.stop_at: int | None = None

    @property
    def folder(self) -> Path:
        (self._base / "files").mkdir(parents=True, exist_ok=True)
        return self._base / "files"

    @property
    def should_stop(self) -> bool:
        return self.stop_at is not None and bool(self.rows) and self.rows[-1][0] >= self.stop_at

    def __getitem__(self, name: str) -> object:
        return self.params[name]

    def log(self, metrics: Mapping[str, object], step: int | None = None) -> None:
        assert step is not None
        self.rows.append((step, {name: float(value) for name, value in metrics.items()}))  # type: ignore[arg-type]

    @contextmanager
    def checkpoint(self, step: int) -> Iterator[Path]:
        with atomic.new_folder(self._base / "checkpoints" / str(step)) as folder:
            yield folder

    def resume(self) -> Path | None:
        found = [p for p in (self._base / "checkpoints").glob("*") if atomic.flaw(p) is None]
        return max(found, key=lambda path: int(path.name), default=None)

    def infeasible(self, reason: str) -> NoReturn:
        raise AssertionError(reason)

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        yield

    def curve(self, name: str) -> Curve:
        points = [(step, row[name]) for step, row in self.rows if name in row]
        return Curve.of([step for step, _ in points], [value for _, value in points])
