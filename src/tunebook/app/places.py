"""Where things are kept: the book and the folders of its attempts."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_FOLDER = ".tunebook"


def book_folder(given: Path | None = None) -> Path:
    """The folder of the book: as given, or `TUNEBOOK_DIR`, or `.tunebook` here."""
    return Path(given or os.environ.get("TUNEBOOK_DIR") or DEFAULT_FOLDER)


def attempts_folder() -> Path | None:
    """`TUNEBOOK_ATTEMPTS`: another place for the attempts, such as a shared disk."""
    given = os.environ.get("TUNEBOOK_ATTEMPTS")
    return Path(given) if given else None


def differences_folder(book: Path) -> Path:
    """Where uncommitted changes are kept as patches."""
    return book / "differences"
