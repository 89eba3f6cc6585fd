"""The definition of each study as a file beside its attempts, for a book that is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from tunebook.core.codec import dumps, loads
from tunebook.core.errors import StoreError
from tunebook.core.study import Study
from tunebook.files import atomic
from tunebook.storage.faults import refused
from tunebook.storage.folders import numbered

_FILE = "study.json"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder of attempts, and the name of the book that puts them there.

    Without a name every study on it is the book's own, and so is one that names no book.
    """

    root: Path
    book: str | None = None

    def path(self, key: int) -> Path:
        return self.root / str(key) / _FILE

    def keys(self) -> list[int]:
        """The keys of all studies that have a folder, in order."""
        return numbered(self.root)

    def own_keys(self) -> list[int]:
        """The keys of the book's own studies."""
        return [key for key in self.keys() if not self.is_foreign(key)]

    def is_foreign(self, key: int) -> bool:
        """Whether the folder of a study is another book's."""
        return self._is_foreign(self._read(key)[0])

    def write(self, key: int, study: Study) -> None:
        """Keep a definition, unless it is kept already."""
        place = self.path(key)
        if self.is_foreign(key):
            raise StoreError(
                f"{place.parent} holds the attempts of another book; set TUNEBOOK_ATTEMPTS to the "
                "folder that this book has used before, or to an empty one"
            )
        content = json.dumps({"book": self.book, "study": dumps(study)}).encode()
        if place.is_file() and place.read_bytes() == content:
            return
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.parent.mkdir(mode=0o700, exist_ok=True)
            atomic.write_file(place, content)
        except OSError as error:
            raise refused(place, error) from error

    def new_key(self, study: Study, taken: Set[int], highest: int) -> int:
        """A key for a study that is new to the book: its own of before, or one that nobody has.

        A book that has lost its latest commits meets the folders of studies that it does not know.
        """
        for key, known in self.read().items():
            if key not in taken and known.name == study.name and not known.difference(study):
                return key
        key = max([highest, *taken, *self.keys()])
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            while True:
                key += 1
                # Made before it is used: another book may be looking for a key, too.
                try:
                    (self.root / str(key)).mkdir(mode=0o700)
                except FileExistsError:
                    continue
                return key
        except OSError as error:
            raise refused(self.root, error) from error

    def read(self) -> dict[int, Study]:
        """The definitions of the book's own studies that can be read, by their keys."""
        return dict(self._own())

    def _own(self) -> Iterator[tuple[int, Study]]:
        for key in self.keys():
            book, study = self._read(key)
            if study is not None and not self._is_foreign(book):
                yield key, study

    def _read(self, key: int) -> tuple[str | None, Study | None]:
        """The book that a study names, and the study; None for what cannot be read."""
        try:
            document = json.loads(self.path(key).read_text())
            book, study = document["book"], loads(document["study"])
        except (OSError, ValueError, TypeError, KeyError, StoreError):
            return None, None
        return book, study if isinstance(study, Study) else None

    def _is_foreign(self, book: str | None) -> bool:
        return self.book is not None and book not in (None, self.book)
