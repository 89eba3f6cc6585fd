"""One coordinator for a study at a time; the next one takes over only when it is dead."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tunebook.core.errors import StudyOwned
from tunebook.core.hashing import digest
from tunebook.files import atomic, locks


@contextmanager
def owned(folder: Path, study: str) -> Iterator[None]:
    """Own a study while the block runs, or say who does."""
    path = lock_path(folder, study)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = locks.acquire(path)
    if lock is None:
        raise StudyOwned(_refusal(study, locks.holder(path)))
    with lock:
        _wish_path(folder, study).unlink(missing_ok=True)
        lock.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
        yield


def ask_for_workers(folder: Path, study: str, workers: int) -> bool:
    """Ask the coordinator that runs a study for more workers; False if none runs it."""
    if not locks.is_held(lock_path(folder, study)):
        return False
    before = wished_workers(folder, study)
    atomic.write_file(_wish_path(folder, study), str(before + workers).encode())
    return True


def wished_workers(folder: Path, study: str) -> int:
    """How many workers others have asked the present coordinator to add."""
    path = _wish_path(folder, study)
    return int(path.read_text()) if path.exists() else 0


def lock_path(folder: Path, study: str) -> Path:
    return folder / "owners" / f"{digest(study).hex()[:16]}.lock"


def _wish_path(folder: Path, study: str) -> Path:
    return lock_path(folder, study).with_suffix(".workers")


def _refusal(study: str, content: bytes) -> str:
    try:
        owner = json.loads(content)
        who = f"process {owner['pid']} on {owner['host']}"
    except (ValueError, KeyError):
        who = "another process"
    return (
        f"{study} is being run by {who}; wait for it, stop it there with Ctrl-C, "
        "or add workers to it with --join"
    )
