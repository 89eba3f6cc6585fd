"""One coordinator for a study at a time; the next one takes over only when it is dead."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tunebook.core.errors import StudyOwned
from tunebook.core.hashing import digest
from tunebook.files import locks

_NAMING_SECONDS = 1.0


@contextmanager
def owned(folder: Path, study: str) -> Iterator[None]:
    """Own a study while the block runs, or say who does."""
    path = lock_path(folder, study)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _acquire(path, study) as lock:
        _wish_path(folder, study).unlink(missing_ok=True)
        lock.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
        yield


def ask_for_workers(folder: Path, study: str, workers: int) -> bool:
    """Ask the coordinator that runs a study for more workers; False if none runs it."""
    if not locks.is_held(lock_path(folder, study)):
        return False
    # Appended, so that of two who ask at the same time neither is lost.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with os.fdopen(os.open(_wish_path(folder, study), flags, 0o600), "a") as wishes:
        wishes.write(f"{workers}\n")
    return True


def wished_workers(folder: Path, study: str) -> int:
    """How many workers others have asked the present coordinator to add."""
    path = _wish_path(folder, study)
    return sum(map(int, path.read_text().split())) if path.exists() else 0


def owners(folder: Path) -> tuple[str, ...]:
    """The living processes that run a study of the book in a folder, whichever it is."""
    held = [path for path in sorted((folder / "owners").glob("*.lock")) if locks.is_held(path)]
    return tuple(_owner(locks.holder(path)) or "another process" for path in held)


def lock_path(folder: Path, study: str) -> Path:
    return folder / "owners" / f"{digest(study).hex()[:16]}.lock"


def _wish_path(folder: Path, study: str) -> Path:
    return lock_path(folder, study).with_suffix(".workers")


def _acquire(path: Path, study: str) -> locks.Lock:
    # The one who has just taken the lock may not have written its name yet, and one who only looks
    # whether it is held holds it for a moment: an owner that does not live is asked for again.
    deadline = time.monotonic() + _NAMING_SECONDS
    while True:
        lock = locks.acquire(path)
        if lock is not None:
            return lock
        found = _owner(locks.holder(path))
        if found is not None or time.monotonic() > deadline:
            owner = found or "another process"
            raise StudyOwned(
                f"{study} is being run by {owner}; wait for it, stop it there with Ctrl-C, or add "
                "workers to it with --join",
                owner,
            )
        time.sleep(0.02)


def _owner(content: bytes) -> str | None:
    """The living process that the content of a lock names."""
    try:
        owner = json.loads(content)
        pid, host = int(owner["pid"]), str(owner["host"])
        if host == socket.gethostname():
            os.kill(pid, 0)
    except (ValueError, KeyError, TypeError, ProcessLookupError):
        return None
    except PermissionError:
        pass  # it lives, and is another user's
    return f"process {pid} on {host}"
