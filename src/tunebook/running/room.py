"""Room on the disk: no trial is begun that could not write down what it comes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tunebook.files.space import free_bytes

# Enough for the book, the spools and the logs of a few trials; checkpoints are the program's own.
LEAST_BYTES = 16 * 2**20


class Room:
    """Says whether the disks of some folders have room, and tells once when they have none."""

    def __init__(self, folders: tuple[Path, ...], notice: Callable[[str], None]) -> None:
        self._folders = folders
        self._notice = notice
        self._told = False

    def __call__(self) -> bool:
        for folder in self._folders:
            free = free_bytes(folder)
            if free is not None and free < LEAST_BYTES:
                if not self._told:
                    self._told = True
                    self._notice(
                        f"Paused: the disk of {folder} has {free} bytes free, and a trial is begun "
                        f"only with {LEAST_BYTES} or more. Trials that run go on, and so does the "
                        "study once there is room"
                    )
                return False
        if self._told:
            self._told = False
            self._notice("There is room again: the study goes on")
        return True
