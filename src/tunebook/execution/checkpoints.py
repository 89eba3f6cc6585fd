"""Checkpoints of a trial: atomic folders by step, in the folder of the attempt that wrote them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tunebook.files import atomic, space

# Two, so that a checkpoint damaged after it was written does not cost the whole trial.
KEPT = 2


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint folder, the attempt that wrote it, and its step."""

    folder: Path
    attempt: int
    step: int

    @property
    def flaw(self) -> str | None:
        """Why it cannot be used, if it cannot."""
        return atomic.flaw(self.folder)

    @property
    def seconds(self) -> float:
        """How long the trial had been training."""
        return float(atomic.read_about(self.folder)["seconds"])

    @property
    def logged(self) -> tuple[str, ...]:
        """The metrics that had been logged."""
        return tuple(atomic.read_about(self.folder)["logged"])


@contextmanager
def save(
    attempt_folder: Path, step: int, seconds: float, logged: tuple[str, ...] = ()
) -> Iterator[Path]:
    """A folder to fill; older checkpoints go only once the new one is durable."""
    parent = attempt_folder / "checkpoints"
    parent.mkdir(exist_ok=True, mode=0o700)
    about = {"seconds": seconds, "logged": list(logged)}
    with atomic.new_folder(parent / str(step), about) as folder:
        yield folder
    others = sorted(other for other in _steps(parent) if other != step)
    for old in others[: 1 - KEPT]:
        shutil.rmtree(parent / str(old), ignore_errors=True)


def newest(trial_folder: Path) -> Iterator[Checkpoint]:
    """The checkpoints of every attempt of a trial: the furthest first, then the latest."""
    found = [
        Checkpoint(folder / "checkpoints" / str(step), int(folder.name), step)
        for folder in trial_folder.iterdir()
        if folder.name.isdecimal() and (folder / "checkpoints").is_dir()
        for step in _steps(folder / "checkpoints")
    ]
    yield from sorted(found, key=lambda c: (c.step, c.attempt), reverse=True)


def remove_leftovers(attempt_folder: Path) -> None:
    """Remove what a killed attempt had begun to write."""
    atomic.remove_leftovers(attempt_folder / "checkpoints")


def says_disk_is_full(error: Exception) -> bool:
    """Whether an error says that there was no room for a checkpoint."""
    return (isinstance(error, OSError) and space.is_full(error)) or space.speaks_of_it(str(error))


def _steps(parent: Path) -> list[int]:
    return [int(entry.name) for entry in parent.iterdir() if entry.name.isdecimal()]
