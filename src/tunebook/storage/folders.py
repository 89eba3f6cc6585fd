"""Where a book is when nobody says, and the numbers that folders within it have for names."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_FOLDER = ".tunebook"


def usual_folder() -> Path:
    """The folder of the book: `TUNEBOOK_DIR`, or `.tunebook` here."""
    return Path(os.environ.get("TUNEBOOK_DIR") or DEFAULT_FOLDER)


def numbered(folder: Path) -> list[int]:
    """The numbers that folders within a folder have for names, in order."""
    names = (entry.name for entry in folder.iterdir()) if folder.is_dir() else ()
    return sorted(int(name) for name in names if name.isdecimal())
