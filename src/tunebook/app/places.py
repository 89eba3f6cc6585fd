"""Where things are kept, and what they are called when nobody says."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from tunebook.storage.folders import usual_folder


def book_folder(given: Path | str | None = None) -> Path:
    """The folder of the book: as given, or `TUNEBOOK_DIR`, or `.tunebook` here."""
    return Path(given) if given else usual_folder()


def book_option(given: Path | str | None) -> str:
    """The option that a further command needs to find the same book; nothing for the usual one.

    >>> book_option(Path("my books")), book_option(None)
    (" --dir 'my books'", '')
    """
    folder = book_folder(given)
    return f" --dir {shlex.quote(str(folder))}" if folder != usual_folder() else ""


def attempts_folder() -> Path | None:
    """`TUNEBOOK_ATTEMPTS`: another place for the attempts, such as a shared disk."""
    given = os.environ.get("TUNEBOOK_ATTEMPTS")
    return Path(given) if given else None


def differences_folder(book: Path) -> Path:
    """Where uncommitted changes are kept as patches."""
    return book / "differences"


def study_name(program: str) -> str:
    """The name of a study that is called after the file of its program.

    >>> study_name("experiments/my train.py"), study_name("")
    ('my-train', 'runs')
    """
    stem = Path(program).stem
    plain = "".join(c if (c.isascii() and c.isalnum()) or c in "_.-" else "-" for c in stem)
    return plain.lstrip(".-")[:100] or "runs"
