"""Which process holds a book that is locked, as Linux knows it.

The kernel's table of locks is read. To probe the locks oneself would mean to open the files and to
close them again, at which this process would lose every lock of its own on them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tunebook.core.masking import mask_arguments

_LOCKS = Path("/proc/locks")
_LONGEST_COMMAND = 120
# In WAL mode a writer locks the shared memory; in other modes, and while it recovers, the book.
_SUFFIXES = ("", "-shm")


def holder(book: Path) -> str:
    """The process that keeps others from writing a book, in words."""
    found = sorted(set(_writers(book)) - {os.getpid()})
    return " and ".join(f"process {pid} ({_command(pid)})" for pid in found) or "another process"


def _writers(book: Path) -> Iterator[int]:
    inodes = {inode for suffix in _SUFFIXES if (inode := _inode(Path(f"{book}{suffix}")))}
    try:
        lines = _LOCKS.read_text().splitlines()
    except OSError:  # no Linux: nobody is named
        return
    for line in lines:
        # 1: POSIX ADVISORY WRITE <pid> <major>:<minor>:<inode> <first byte> <last byte>
        # (a lock that is only waited for has an arrow behind its number)
        fields = line.split()
        if len(fields) == 8 and fields[3] == "WRITE" and fields[5].rpartition(":")[2] in inodes:
            yield int(fields[4])


def _inode(path: Path) -> str | None:
    try:
        return str(path.stat().st_ino)
    except OSError:
        return None


def _command(pid: int) -> str:
    try:
        line = Path("/proc", str(pid), "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return "its command is not known"
    words = [word for word in line.split("\0") if word]
    return " ".join(mask_arguments(words))[:_LONGEST_COMMAND] or "its command is not known"
