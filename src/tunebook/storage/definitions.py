"""The definition of each study as a file beside its attempts, for a book that is lost."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from tunebook.core.codec import dumps, loads
from tunebook.core.errors import StoreError
from tunebook.core.study import Study
from tunebook.files import atomic
from tunebook.storage.faults import refused

_FILE = "study.json"


def path(root: Path, key: int) -> Path:
    return root / str(key) / _FILE


def keys(root: Path) -> list[int]:
    """The keys of the studies that have a folder, in order."""
    names = (entry.name for entry in root.iterdir()) if root.is_dir() else ()
    return sorted(int(name) for name in names if name.isdecimal())


def write(root: Path, key: int, study: Study) -> None:
    """Keep a definition, unless it is kept already."""
    content = dumps(study).encode()
    place = path(root, key)
    if place.is_file() and place.read_bytes() == content:
        return
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        atomic.write_file(place, content)
    except OSError as error:
        raise refused(place, error) from error


def next_key(root: Path, study: Study, taken: Set[int], highest: int) -> int:
    """A key for a study that is new to the book: one whose folder nobody has, or its own.

    A book that has lost its latest commits meets the folders of studies that it does not know.
    """
    for key, known in read(root).items():
        if key not in taken and known.name == study.name and not known.difference(study):
            return key
    return 1 + max([highest, *taken, *keys(root)])


def read(root: Path) -> dict[int, Study]:
    """The definitions that can be read, by the keys of their studies."""
    found = {}
    for key in keys(root):
        try:
            study = loads(path(root, key).read_text())
        except (OSError, UnicodeDecodeError, StoreError):
            continue
        if isinstance(study, Study):
            found[key] = study
    return found
