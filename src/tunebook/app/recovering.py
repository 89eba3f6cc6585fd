"""A damaged book: what is wrong with it, and a new one from all that is left."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tunebook.app import places
from tunebook.core.errors import StoreError, StudyOwned
from tunebook.core.representation import counted
from tunebook.files.atomic import sync
from tunebook.running.ownership import owned, owners
from tunebook.running.stories import tell
from tunebook.storage.checking import NoBook, flaws
from tunebook.storage.comparing import Compared, compare
from tunebook.storage.definitions import Shelf
from tunebook.storage.faults import option
from tunebook.storage.lost_points import put_aside
from tunebook.storage.migrations import VERSION
from tunebook.storage.rebuilding import Recovered, rebuild
from tunebook.storage.remains import Remains, remains
from tunebook.storage.salvage import Salvaged, salvage
from tunebook.storage.sqlite import BOOK, shelf_of

_BESIDE = ("", "-wal")


@dataclass(frozen=True, slots=True)
class Recovery:
    """What came of looking at a book; without `studies`, which are a new one's, nothing changed.

    `kept` is the damaged book under its new name, if there was one. It is `doubtful` if rows of it
    that cannot be read may have held what nobody misses.
    """

    book: str
    flaws: tuple[str, ...]
    kept: str | None = None
    studies: tuple[Recovered, ...] | None = None
    compared: Compared = field(default_factory=Compared)
    doubtful: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong with the book, or all of it was recovered."""
        if self.studies is None:
            return not self.flaws
        return bool(self.studies) and not any(study.lost for study in self.studies)


def check(folder: Path) -> Recovery:
    """Only look: every page, key and value of a book, and whether its attempts' files agree."""
    book, shelf = folder.absolute() / BOOK, _shelf(folder)
    if not book.exists():
        if not shelf.read():
            raise StoreError(
                f"no book in {folder}, nor files of one; choose another folder with `--dir`"
            )
        return Recovery(str(book), ("it is missing, but the files of its attempts are there",))
    try:
        found = flaws(book)
    except NoBook as other:
        if not shelf.own_keys():
            raise StoreError(
                f"{book} {other}, and there are no files of attempts to make a book from; choose "
                "another folder with `--dir`"
            ) from other
        return Recovery(str(book), (f"it {other}, but the files of attempts are there",))
    if found:
        return Recovery(str(book), found)
    compared = compare(book, shelf, tell)
    return Recovery(str(book), compared.differences, compared=compared)


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
            # First: with the new book, trials could go on from them.
            made = tuple(_put_aside(study) for study in made)
            kept = _replace(book, work / BOOK)
    except OSError as error:
        raise StoreError(f"cannot recover {book}: {error.strerror}; nothing is lost") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Recovery(
        found.book,
        found.flaws,
        str(kept) if kept.exists() else None,
        made,
        doubtful=left.doubtful_trials,
    )


def data(found: Recovery) -> dict[str, Any]:
    """For machines."""
    return {"whole": found.is_whole, **asdict(found)}


def text(found: Recovery) -> str:
    """For people."""
    if not found.flaws:
        return _of_whole(found)
    where = option(Path(found.book))
    lines = [f"{found.book} is damaged:", *(f"  {flaw}" for flaw in found.flaws)]
    if found.studies is None:
        advice = f"Nothing was changed. To make a new book: tunebook recover{where}"
        return "\n".join([*lines, advice])
    kept = f"It is kept as {found.kept}. " if found.kept else ""
    if not found.studies:
        lines.append(f"{kept}The new book is empty: nothing could be read, and no files are there.")
        return "\n".join(lines)
    lines.append(f"{kept}The new book has:")
    for study in found.studies:
        lines += _of_study(study)
    lines.append(_result(found, where))
    if any(study.beyond for study in found.studies):
        lines.append("To go on from what was put aside all the same, give it its old name first.")
    if any(study.differences for study in found.studies):
        lines.append("What the book said otherwise than the files is told above: look at it.")
    return "\n".join(lines)


def _of_whole(found: Recovery) -> str:
    whole = f"{found.book} is whole: every page, key and value can be read"
    compared = found.compared
    if not compared.gone:
        return f"{whole}, and the files of its attempts say the same."
    lines = [
        f"{whole}.",
        f"It could not be compared with all files beside it. Those of {compared.uncompared} of "
        f"{counted(compared.attempts, 'attempt')} are gone or damaged, and the book alone has what "
        "they held:",
        *(f"  {line}" for line in compared.gone),
    ]
    if compared.uncompared < compared.attempts:
        lines.append("The others say the same.")
    return "\n".join(lines)


def _of_study(study: Recovered) -> list[str]:
    attempts = counted(study.attempts, "attempt")
    return [
        f"  {study.study}: {counted(study.trials, 'trial')}, {attempts} ({study.ended} ended; "
        f"{study.from_spools} read from their own spools)",
        *(f"    lost: {line}" for line in study.lost),
        *(f"    put aside, as points before it are or may be lost: {p}" for p in study.beyond),
        *(f"    the files count: {line}" for line in study.differences),
    ]


def _result(found: Recovery, where: str) -> str:
    if not found.is_whole:
        return f"What was lost is run again by: tunebook run FILE{where}"
    if found.doubtful:
        return (
            "Nothing is known to be lost. (Rows of the book cannot be read: a trial whose folder "
            "is gone, too, would leave no trace.)"
        )
    return "Nothing was lost."


def _put_aside(study: Recovered) -> Recovered:
    return replace(study, beyond=tuple(str(put_aside(Path(path))) for path in study.beyond))


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
        return Remains(doubtful_trials=True)
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
