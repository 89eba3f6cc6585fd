"""A damaged book: what is wrong with it, and a new one from all that is left."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tunebook.app import places
from tunebook.core.errors import StoreError, StudyOwned
from tunebook.core.representation import counted
from tunebook.files.atomic import sync
from tunebook.running.ownership import owned, owners
from tunebook.running.stories import tell
from tunebook.storage.checking import flaws
from tunebook.storage.comparing import differences
from tunebook.storage.definitions import Shelf
from tunebook.storage.faults import option
from tunebook.storage.migrations import VERSION
from tunebook.storage.rebuilding import Recovered, rebuild
from tunebook.storage.remains import Remains, remains
from tunebook.storage.salvage import Salvaged, salvage
from tunebook.storage.sqlite import BOOK, shelf_of

_BESIDE = ("", "-wal")


@dataclass(frozen=True, slots=True)
class Recovery:
    """What came of looking at a book; without `studies`, which are a new one's, nothing changed.

    `kept` is the damaged book under its new name, if there was one.
    """

    book: str
    flaws: tuple[str, ...]
    kept: str | None = None
    studies: tuple[Recovered, ...] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong with the book, or all of it was recovered."""
        if self.studies is None:
            return not self.flaws
        return bool(self.studies) and not any(study.lost for study in self.studies)


def check(folder: Path) -> Recovery:
    """Only look: every page, key and value of a book, and whether its attempts' files agree."""
    book = folder.absolute() / BOOK
    if not book.exists():
        if not _shelf(folder).read():
            raise StoreError(
                f"no book in {folder}, nor files of one; choose another folder with `--dir`"
            )
        return Recovery(str(book), ("it is missing, but the files of its attempts are there",))
    return Recovery(str(book), flaws(book) or differences(book, _shelf(folder), tell))


def recover(folder: Path) -> Recovery:
    """Make a new book in the place of a damaged one, which is kept under another name."""
    found = check(folder)
    if not found.flaws:
        return found
    _refuse_owned(folder)
    book = Path(found.book)
    shelf = _shelf(folder)
    work = book.with_name(f".recovering-{secrets.token_hex(4)}")
    work.mkdir(mode=0o700)
    try:
        left = _read(book, work)
        with ExitStack() as stack:
            # Two folders may hold a study of one name, which can be owned once.
            studies = (*shelf.read().values(), *left.studies.values())
            for name in sorted({study.name for study in studies}):
                stack.enter_context(owned(folder, name))
            made = rebuild(work / BOOK, left, shelf, tell)
            if wrong := flaws(work / BOOK):
                raise StoreError(f"the new book would be flawed ({wrong[0]}); nothing was changed")
            kept = _replace(book, work / BOOK)
    except OSError as error:
        raise StoreError(f"cannot recover {book}: {error.strerror}; nothing is lost") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Recovery(found.book, found.flaws, str(kept) if kept.exists() else None, made)


def data(found: Recovery) -> dict[str, Any]:
    """For machines."""
    return {"whole": found.is_whole, **asdict(found)}


def text(found: Recovery) -> str:
    """For people."""
    if not found.flaws:
        return (
            f"{found.book} is whole: every page, key and value can be read, and the files of its "
            "attempts say the same."
        )
    where = option(Path(found.book))
    lines = [f"{found.book} is damaged:", *(f"  {flaw}" for flaw in found.flaws)]
    if found.studies is None:
        advice = f"Nothing was changed. To make a new book: tunebook recover{where}"
        return "\n".join([*lines, advice])
    lines.append(f"{f'It is kept as {found.kept}. ' if found.kept else ''}The new book has:")
    for study in found.studies:
        attempts = counted(study.attempts, "attempt")
        lines.append(
            f"  {study.study}: {counted(study.trials, 'trial')}, {attempts} ({study.ended} ended; "
            f"{study.from_spools} read from their own spools)"
        )
        lines += [f"    lost: {line}" for line in study.lost]
        lines += [f"    the files count: {line}" for line in study.differences]
    whole = found.is_whole
    again = f"What was lost is run again by: tunebook run FILE{where}"
    lines.append("Nothing was lost." if whole else again)
    if any(study.differences for study in found.studies):
        lines.append("What the book said otherwise than the files is told above: look at it.")
    return "\n".join(lines)


def _shelf(folder: Path) -> Shelf:
    return shelf_of(folder, places.attempts_folder())


def _refuse_owned(folder: Path) -> None:
    for owner in owners(folder):
        raise StudyOwned(
            f"a study of this book is being run by {owner}; stop it there with Ctrl-C, then recover"
        )


def _read(book: Path, work: Path) -> Remains:
    """What the book still says; a copy is read, since SQLite may write to what it opens."""
    if not book.exists():
        return Remains()
    for suffix in _BESIDE:
        if _has_content(Path(f"{book}{suffix}")):
            shutil.copyfile(f"{book}{suffix}", work / f"damaged.db{suffix}")
    found = salvage(work / "damaged.db")
    _refuse_newer(found, book)
    return remains(found)


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _refuse_newer(found: Salvaged, book: Path) -> None:
    for row in found.rows["meta"]:
        if row["name"] == "schema" and isinstance(row["value"], int) and row["value"] > VERSION:
            raise StoreError(
                f"{book} was written by a newer tunebook (schema {row['value']}, this one reads up "
                f"to {VERSION}); upgrade tunebook"
            )


def _replace(book: Path, new: Path) -> Path:
    """Put the new book in the place of the old one, of which no byte is changed."""
    kept = book.with_name(f"{book.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    while kept.exists():
        kept = kept.with_name(f"{kept.name}-again")
    for suffix in _BESIDE:
        if _has_content(Path(f"{book}{suffix}")):
            os.link(f"{book}{suffix}", f"{kept}{suffix}")
    sync(book.parent)
    # The log of the old book must be gone before: SQLite would read it as that of the new one.
    for suffix in ("-wal", "-shm"):
        Path(f"{book}{suffix}").unlink(missing_ok=True)
    sync(book.parent)
    sync(new)
    new.replace(book)
    sync(book.parent)
    return kept
