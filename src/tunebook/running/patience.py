"""A store for those who can wait: a full disk or a locked book pauses a study and does not end it.

Trials never touch the book. They go on meanwhile, and what they tell waits in their spools.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TypeVar

from tunebook.core.errors import StoreFull, StoreLocked
from tunebook.core.events import Event
from tunebook.core.protocols import Proposal, Store
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Code

# A full disk is waited for without end; a book that is locked for so long is stuck.
LOCKED_SECONDS = 600.0
AGAIN_SECONDS = 0.5
T = TypeVar("T")


class Patient:
    """The protocol `Store` over another store, each call repeated until it can be done."""

    def __init__(
        self,
        store: Store,
        notice: Callable[[str], None],
        leaving: Callable[[], bool] = lambda: False,
    ) -> None:
        """`leaving` ends the waiting: the call then raises what it waits for."""
        self._store = store
        self._notice = notice
        self._leaving = leaving

    def create(self, study: Study) -> Study:
        return self.insist(lambda: self._store.create(study))

    def claim(self, study: str, proposal: Proposal, code: Code) -> Attempt:
        return self.insist(lambda: self._store.claim(study, proposal, code))

    def append(self, event: Event) -> bool:
        return self.insist(lambda: self._store.append(event))

    def results(self, study: str, metrics: Collection[str] | None = None) -> Results:
        return self.insist(lambda: self._store.results(study, metrics))

    def studies(self) -> tuple[Study, ...]:
        return self.insist(self._store.studies)

    def insist(self, call: Callable[[], T]) -> T:
        """Do what the store cannot do now as soon as it can."""
        began, told = time.monotonic(), False
        while True:
            try:
                done = call()
            except (StoreFull, StoreLocked) as trouble:
                if self._leaving():
                    raise
                waited = time.monotonic() - began
                if isinstance(trouble, StoreLocked) and waited > LOCKED_SECONDS:
                    raise StoreLocked(
                        f"{trouble}, then run again: it has been locked for {waited:.0f} s"
                    ) from trouble
                if not told:
                    told = True
                    self._notice(
                        f"Paused: {trouble}. Trials that run go on, and so does the study once "
                        "the book can be written again"
                    )
                time.sleep(AGAIN_SECONDS)
            else:
                if told:
                    self._notice("The book can be written again: the study goes on")
                return done
