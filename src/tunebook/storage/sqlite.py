"""A book in one SQLite file: one writer at a time, any number of readers who never disturb it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from tunebook.core.errors import StoreError
from tunebook.core.events import Event, Finished, Tick
from tunebook.core.protocols import Proposal
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Code
from tunebook.files.space import is_full
from tunebook.storage.claims import claim_attempt, create_study
from tunebook.storage.connections import (
    BUSY_SECONDS,
    create_book,
    durable,
    open_engine,
    relaxed,
)
from tunebook.storage.definitions import Shelf
from tunebook.storage.faults import explained, fault_name, is_io_error, no_room, recovery
from tunebook.storage.identity import identity
from tunebook.storage.ingestion import append_event
from tunebook.storage.migrations import VERSION, migrate, refuse_other_version
from tunebook.storage.mounts import refuse_network
from tunebook.storage.reading import find_key, read_results, read_studies
from tunebook.storage.restoring import Tell, take_in

BOOK = "book.db"
# A check reads the whole file. Above this size damage is found when it is met.
CHECKED_BYTES = 64 * 2**20


def open_store(
    folder: Path,
    *,
    readonly: bool = False,
    attempts: Path | None = None,
    busy_seconds: float = BUSY_SECONDS,
) -> SQLiteStore:
    """The book in a folder, made if it is missing and not only to be read.

    The folders of attempts lie under `attempts`, which may be on a shared disk; the book may not.
    Whoever finds the book locked for `busy_seconds` gets `StoreLocked`.
    """
    folder = Path(folder).absolute()
    refuse_network(folder)
    book = folder / BOOK
    if readonly and not book.exists():
        if shelf_of(folder, attempts).read():
            raise StoreError(
                f"{book} is missing, but the files of its attempts are there. {recovery(book)}"
            )
        raise StoreError(f"no book in {folder}; run a study first, or choose another with `--dir`")
    with explained(book):
        if not readonly:
            _make(book)
        engine = open_engine(book, readonly=readonly, busy_seconds=busy_seconds)
        try:
            if readonly:
                refuse_other_version(engine, book)
            else:
                _check(engine, book)
                migrate(engine, book)
        except BaseException:
            engine.dispose()
            raise
    shelf = shelf_of(folder, attempts, make=not readonly)
    return SQLiteStore(engine, book, shelf, readonly)


def shelf_of(folder: Path, attempts: Path | None, *, make: bool = False) -> Shelf:
    """Where the attempts of a book are: in its own folder, or where other books may have theirs."""
    if attempts is None:
        return Shelf((folder / "studies").absolute())
    return Shelf(Path(attempts).absolute(), identity(folder, make=make))


class SQLiteStore:
    """The protocol `Store` over SQLite; made by `open_store`."""

    def __init__(self, engine: Engine, book: Path, shelf: Shelf, readonly: bool) -> None:
        self._engine = engine
        self._durable = durable(engine)
        self._relaxed = relaxed(engine)
        self._book = book
        self._shelf = shelf
        self._attempts = shelf.root
        self._readonly = readonly
        self._failed = False

    def create(self, study: Study) -> Study:
        """Make the study known; a second call joins it, or raises `StudyChanged`."""
        with self._writing(self._durable) as connection:
            return create_study(connection, self._shelf, study)

    def claim(self, study: str, proposal: Proposal, code: Code) -> Attempt:
        """A new attempt at the proposed trial, which is made if it is new."""
        with self._writing(self._durable) as connection:
            return claim_attempt(connection, self._attempts, study, proposal, code)

    def take_in(self, study: str, tell: Tell) -> tuple[Attempt, ...]:
        """Make attempts known that have a folder, and that the book has lost."""
        with self._writing(self._durable) as connection:
            key = find_key(connection, study)
            return take_in(connection, self._attempts, key, tell)

    def append(self, event: Event) -> bool:
        """Remember an event; False if a later attempt or an outcome fences it out.

        Outcomes are on the disk when this returns. Points may be lost in a power cut, with the
        offset up to which they were read: the spool still has them.
        """
        return isinstance(event, Tick) or self.append_all([event])[0]

    def append_all(self, events: Iterable[Event]) -> tuple[bool, ...]:
        """The same for several events, in one transaction."""
        events = tuple(events)
        ends = any(isinstance(event, Finished) for event in events)
        with self._writing(self._durable if ends else self._relaxed) as connection:
            return tuple(append_event(connection, event) for event in events)

    def results(self, study: str, metrics: Collection[str] | None = None) -> Results:
        """The study now, with the curves of these metrics (None: of all)."""
        with explained(self._book), self._engine.begin() as connection:
            return read_results(connection, self._attempts, study, metrics)

    def studies(self) -> tuple[Study, ...]:
        """Every study, in the order of creation."""
        with explained(self._book), self._engine.begin() as connection:
            return read_studies(connection)

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _writing(self, engine: Engine) -> Iterator[Connection]:
        if self._readonly:
            raise StoreError(f"{self._book} was opened for reading only")
        if self._failed:
            raise StoreError(
                f"nothing more is written to {self._book} since its disk failed; "
                "check the disk, then run again"
            )
        with explained(self._book):
            try:
                with engine.begin() as connection:
                    yield connection
            except DBAPIError as error:
                # After a failed sync the kernel may have dropped what it could not write: a later
                # commit would be acknowledged on top of a hole.
                self._failed = is_io_error(fault_name(error))
                raise


def _make(book: Path) -> None:
    try:
        book.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not book.exists():
            create_book(book, VERSION)
    except OSError as error:
        if is_full(error):
            raise no_room(book) from error
        raise StoreError(
            f"cannot make a book in {book.parent}: {error.strerror}; "
            "check the disk and the permissions, or choose another folder with `--dir`"
        ) from error


def _check(engine: Engine, book: Path) -> None:
    if book.stat().st_size > CHECKED_BYTES:
        return
    with engine.begin() as connection:
        found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
    if found != "ok":
        raise StoreError(
            f"{book} is damaged ({found.splitlines()[-1]}); nothing was written. {recovery(book)}"
        )
