"""Attempts that hang: no log, no output and no checkpoint for a long time.

Only time that was seen to pass counts. A machine that was suspended, or a coordinator that was
stopped, finds every attempt as silent as it left it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tunebook.core.errors import StudyError
from tunebook.execution.spec import Spec, StopRequest

# Without a limit, one sentence warns: of ten minutes, or of ten times what was usual before.
WARN_SECONDS = 600.0
_UNUSUAL = 10
_FOLDERS = ("run", "checkpoints", "../files/checkpoints")
_SIGNS = ("spool", "log.txt", "metrics.jsonl", *_FOLDERS)
# A file that is written over in place changes no folder. So the files themselves are looked at, but
# only so many, and only so many times within the silence that would be too long.
_MOST_FILES = 1000
_WALKS = 20


@dataclass
class _Silence:
    signs: tuple[tuple[int, int], ...]
    seconds: float = 0.0
    longest: float = 0.0
    told: bool = False
    files: int | None = None
    walked_at: float = 0.0


class Stalls:
    """Watches attempts for silence; `timeout` is how long one may last, if there is a limit."""

    def __init__(self, timeout: float | None = None) -> None:
        if timeout is not None and not 0 < timeout < math.inf:
            raise StudyError(
                f"the stall timeout must be a finite number of seconds above 0, got {timeout:g}"
            )
        self._timeout = timeout
        self._silences: dict[str, _Silence] = {}

    def look(self, spec: Spec, passed: float) -> str | StopRequest | None:
        """A warning, or the request that ends the attempt, once each time it falls silent."""
        folder, signs = spec.attempt.folder, _signs(spec.folder)
        silence = self._silences.get(folder)
        if silence is None or signs != silence.signs:
            # At the first look, time may have passed in which there was no attempt yet.
            longest = max(silence.longest, silence.seconds) if silence else 0.0
            self._silences[folder] = _Silence(signs, longest=longest)
            return None
        silence.seconds += passed
        if self._files_changed(spec, silence):
            longest = max(silence.longest, silence.seconds)
            self._silences[folder] = _Silence(signs, longest=longest, files=silence.files)
            return None
        if silence.told or silence.seconds < self._limit(silence):
            return None
        silence.told = True
        silent = f"no log, output or checkpoint for {_in_words(silence.seconds)}"
        if self._timeout is None:
            return f"{silent}; with --stall-timeout SECONDS, a trial that hangs is ended"
        return StopRequest("stall", f"stalled: {silent}", grace=0.0)

    def forget(self, spec: Spec) -> None:
        self._silences.pop(spec.attempt.folder, None)

    def _files_changed(self, spec: Spec, silence: _Silence) -> bool:
        """Whether a file was written since the last walk over them; True is told once."""
        if silence.seconds - silence.walked_at < self._limit(silence) / _WALKS:
            return False
        before, silence.files = silence.files, _files(spec.folder)
        silence.walked_at = silence.seconds
        return before not in (None, silence.files)

    def _limit(self, silence: _Silence) -> float:
        usual = max(WARN_SECONDS, _UNUSUAL * silence.longest)
        return usual if self._timeout is None else self._timeout


def _signs(folder: Path) -> tuple[tuple[int, int], ...]:
    """What changes whenever an attempt does something that can be seen."""
    return tuple(_state(folder / name) for name in _SIGNS)


def _files(folder: Path) -> int:
    """A number that changes when a file below the folders of an attempt is written."""
    found = (entry for name in _FOLDERS for entry in _below(folder / name))
    return hash(tuple(islice(found, _MOST_FILES)))


def _below(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of the files below a folder; those that vanish meanwhile are no error."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            with suppress(OSError):
                status = path.lstat()
                yield str(path), status.st_size, status.st_mtime_ns


def _state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return status.st_size, status.st_mtime_ns


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
