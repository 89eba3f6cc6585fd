"""Whose attempts lie in a folder that several books may share.

Attempts in the folder of their book are that book's. Elsewhere each study's folder names the book,
whose name, a random one, is a file beside it: it outlives a book that is lost.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from tunebook.files import atomic
from tunebook.storage.faults import refused

_FILE = "identity"


NAMELESS = ""


def identity(folder: Path, *, make: bool) -> str:
    """The name of the book in a folder; if it has none, one is made, or it is `NAMELESS`."""
    place = folder / _FILE
    try:
        if not place.exists():
            if not make:
                return NAMELESS
            atomic.write_file(place, secrets.token_hex(8).encode())
        return place.read_text()
    except OSError as error:
        raise refused(place, error) from error
