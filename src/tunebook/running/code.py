"""Which code runs: the commit, and what was not committed, kept beside the book."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from tunebook.core.trials import Code
from tunebook.files import atomic

_LARGEST_DIFFERENCE = 1 << 20
# Plain, whatever the user's git is told to show: the difference is hashed, and may be applied.
_DIFFERENCE = ("diff", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD")


def code_of(folder: Path, program: Path | None, keep: Path) -> Code:
    """The state of the code in a folder. What is not committed is kept as a patch under `keep`."""
    # A file that is missing is for the program's loader to tell.
    source = _hash(program.read_bytes()) if program and program.is_file() else None
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return Code(source=source)
    difference = _git(folder, *_DIFFERENCE) or b""
    name = _hash(difference) if difference.strip() else None
    if name is not None and len(difference) <= _LARGEST_DIFFERENCE:
        keep.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not patch_path(keep, name).exists():
            atomic.write_file(patch_path(keep, name), difference)
    return Code(commit.decode().strip(), name, source)


def patch_path(keep: Path, difference: str) -> Path:
    return keep / f"{difference[:16]}.patch"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _git(folder: Path, *arguments: str) -> bytes | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return None
