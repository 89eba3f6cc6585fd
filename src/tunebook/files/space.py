"""Room on a disk: how much there is, and whether a write was refused for want of it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
# What the system, torch and safetensors say; the last two raise errors of their own.
_TEXTS = ("no space left", "disk quota exceeded", "pytorchstreamwriter failed writing")


def is_full(refusal: OSError) -> bool:
    """Whether a write was refused because the disk, or the user's share of it, has no room.

    >>> is_full(OSError(errno.EDQUOT, "")), is_full(OSError(errno.EIO, ""))
    (True, False)
    """
    return refusal.errno in _NO_ROOM


def speaks_of_it(text: str) -> bool:
    """Whether a message says that a disk was full."""
    return any(part in text.lower() for part in _TEXTS)


def free_bytes(path: Path) -> int | None:
    """Bytes free on the disk of a path that may not exist yet; None if that cannot be told."""
    place = path.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None


def in_words(path: Path) -> str:
    """How much room the disk of a path has."""
    free = free_bytes(path)
    return f"its disk has {'an unknown number of' if free is None else free} bytes free"
