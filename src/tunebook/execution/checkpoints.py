"""Checkpoints of a trial: atomic folders by step, in the folder of the attempt that wrote them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tunebook.files import atomic

# Two, so that a checkpoint damaged after it was written does not cost the whole trial.
KEPT = 2


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint folder, the attempt that wrote it, and its step."""

    folder: Path
    attempt: int
    step: int


@contextmanager
def save(attempt_folder: Path, step: int) -> Iterator[Path]:
    """A folder to fill; older checkpoints go only once the new one is durable."""
    parent = attempt_folder / "checkpoints"
    parent.mkdir(exist_ok=True, mode=0o700)
    with atomic.new_folder(parent / str(step)) as folder:
        yield folder
    for old in sorted(_steps(parent))[:-KEPT]:
        shutil.rmtree(parent / str(old), ignore_errors=True)


def newest(trial_folder: Path) -> Iterator[Checkpoint]:
    """The checkpoints of every attempt of a trial: the furthest first, then the latest."""
    found = [
        Checkpoint(folder / "checkpoints" / str(step), int(folder.name), step)
        for folder in trial_folder.iterdir()
        if folder.name.isdigit() and (folder / "checkpoints").is_dir()
        for step in _steps(folder / "checkpoints")
    ]
    yield from sorted(found, key=lambda c: (c.step, c.attempt), reverse=True)


def _steps(parent: Path) -> list[int]:
    return [int(entry.name) for entry in parent.iterdir() if entry.name.isdigit()]
