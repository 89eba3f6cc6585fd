"""What may become of files: bytes that are overwritten, cut off, or gone."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

Damage = Callable[[Path, float], None]


def overwrite(path: Path, share: float, length: int, seed: int) -> None:
    """Put random bytes at a share of a file, each another than was there."""
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    start = int(share * (len(content) - 1))
    for at in range(start, min(start + length, len(content))):
        content[at] ^= chance.randrange(1, 256)
    path.write_bytes(content)


def cut(path: Path, share: float) -> None:
    os.truncate(path, int(share * (path.stat().st_size - 1)))


# What may happen to the folder of an attempt, at a share of its spool.
OF_ATTEMPT: Mapping[str, Damage] = {
    "attempt.json is overwritten": lambda folder, _: _write(folder / "attempt.json"),
    "attempt.json is gone": lambda folder, _: (folder / "attempt.json").unlink(),
    "the spool is gone": lambda folder, _: (folder / "spool").unlink(),
    "the spool is cut": lambda folder, share: cut(folder / "spool", share),
    "the spool is overwritten": lambda folder, share: overwrite(folder / "spool", share, 50, 1),
    "a byte of the spool is flipped": lambda folder, share: overwrite(
        folder / "spool", share, 1, 1
    ),
    "the folder is gone": lambda folder, _: shutil.rmtree(folder),
}


def _write(path: Path) -> None:
    path.write_text("x\n")
