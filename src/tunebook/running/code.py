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
UNKNOWN = "unknown"


def code_of(folder: Path, program: bytes | None, keep: Path, leave_out: Path | None = None) -> Code:
    """The state of the code in a folder. What is not committed is kept as a patch under `keep`.

    `program` is the program's own source. `leave_out` is a file whose changes are none of the code:
    the study's, of which the book has its own record.
    """
    source = _hash(program) if program is not None else None
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return Code(source=source)
    rest = (
        ["--", ":/", f":(exclude,top){top}"] if (top := _in_repository(folder, leave_out)) else []
    )
    difference = _git(folder, *_DIFFERENCE, *rest)
    if difference is None:
        return Code(commit.decode().strip(), UNKNOWN, source)
    name = _hash(difference) if difference.strip() else None
    if name is not None and len(difference) <= _LARGEST_DIFFERENCE:
        keep.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not patch_path(keep, name).exists():
            atomic.write_file(patch_path(keep, name), difference)
    return Code(commit.decode().strip(), name, source)


def patch_path(keep: Path, difference: str) -> Path:
    return keep / f"{difference[:16]}.patch"


def _in_repository(folder: Path, file: Path | None) -> str | None:
    """A file's path from the top of the repository, if it is in it."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    if file is None or top is None:
        return None
    base = Path(top.decode().strip())
    return str(file.resolve().relative_to(base)) if file.resolve().is_relative_to(base) else None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _git(folder: Path, *arguments: str) -> bytes | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return None
