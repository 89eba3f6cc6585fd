"""The run of a script: what it is given by `tunebook.init()`, and how it ends."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from tunebook.app import places
from tunebook.core.domains import Value
from tunebook.core.errors import TunebookError
from tunebook.core.protocols import Store
from tunebook.core.study import Budget, Divergence
from tunebook.core.trials import Attempt, Outcome, OutcomeKind
from tunebook.execution import current, here
from tunebook.execution.following import Follower
from tunebook.execution.joined import JoinedRun
from tunebook.execution.outcomes import of_exception
from tunebook.execution.run import SpoolRun, TrialEnded
from tunebook.execution.spec import Spec, Terms
from tunebook.storage.sqlite import open_store

NO_TERMS = Terms(metric=None, divergence=Divergence(), budget=None)


class TrackedRun:
    """A run that its script begins and finishes itself, or that of the trial it runs in.

    One that is the script's own is handed in to a book, unless it is for no book.
    """

    def __init__(
        self,
        run: SpoolRun | JoinedRun,
        own: tuple[here.RunHere, Path | None] | None = None,
    ) -> None:
        self._run = run
        self._own = own

    @property
    def params(self) -> Mapping[str, Value]:
        return self._run.params

    @property
    def config(self) -> Mapping[str, Value]:
        """The configuration of this run; the same as `params`."""
        return self._run.params

    @property
    def seed(self) -> int:
        return self._run.seed

    @property
    def budget(self) -> Budget | None:
        return self._run.budget

    @property
    def folder(self) -> Path:
        return self._run.folder

    @property
    def should_stop(self) -> bool:
        return self._run.should_stop

    def __getitem__(self, name: str) -> Value:
        return self._run[name]

    def log(self, metrics: Mapping[str, object], step: int | None = None) -> None:
        """Report numbers at a step, or at the next one."""
        if self._own is not None and self._run.outcome is not None:
            name = self._run.attempt.name
            raise TunebookError(f"{name} has finished; begin another run with tunebook.init()")
        self._run.log(metrics, step)

    def checkpoint(self, step: int) -> AbstractContextManager[Path]:
        return self._run.checkpoint(step)

    def resume(self) -> Path | None:
        return self._run.resume()

    def infeasible(self, reason: str) -> NoReturn:
        self._run.infeasible(reason)

    def timing(self, part: str) -> AbstractContextManager[None]:
        return self._run.timing(part)

    def finish(self) -> None:
        """The run is complete. Within a study, the study sees to that itself."""
        self._end(Outcome(OutcomeKind.COMPLETE, "finished"))

    def __enter__(self) -> TrackedRun:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is None:
            self.finish()
        else:
            self._end(of_exception(error))
        # `infeasible` ends the block of a script's own run, and no more than that.
        return self._own is not None and isinstance(error, TrialEnded)

    def __repr__(self) -> str:
        state = self._run.outcome.kind if self._run.outcome else "running"
        return f"<tunebook run {self._run.attempt.name}, {state}>"

    def _end(self, outcome: Outcome) -> None:
        global _open
        if self._own is None or _open is not self:
            return
        _open = None
        current.set_run(None)
        begun, place = self._own
        begun.run.end(outcome)
        begun.release()
        if place is None:
            shutil.rmtree(Path(self._run.attempt.folder).parent, ignore_errors=True)
            return
        with open_store(place, attempts=places.attempts_folder()) as store:
            hand_in(store, self._run.attempt)


# The run that this script has begun and not finished. A forked child has none.
_open: TrackedRun | None = None


def track(begun: here.RunHere, place: Path | None) -> TrackedRun:
    """Make a run that has begun in this process that of the script.

    Without the place of a book, what it leaves is removed when it ends.
    """
    global _open
    current.set_run(begun.run)
    _watch_the_end()
    _open = TrackedRun(begun.run, (begun, place))
    return _open


def finish_open() -> None:
    """Finish the run that this script has begun, if it has not done so itself."""
    if _open is not None:
        _open.finish()


def hand_in(store: Store, attempt: Attempt) -> None:
    """Put what an attempt has left in its spool into the book."""
    follower = Follower(Spec(attempt, NO_TERMS))
    for event in (*follower.news(), *follower.give_up_if_dead()):
        store.append(event)


@functools.cache
def _watch_the_end() -> None:
    """A script that ends without `finish` is complete; one that ends in an exception has failed."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        ended = _open
        _end_open(of_exception(error))
        if ended is not None and isinstance(error, TrialEnded):
            sys.stderr.write(f"{ended!r}\n")
        else:
            before(kind, error, trace)

    sys.excepthook = hook
    atexit.register(_end_open, Outcome(OutcomeKind.COMPLETE, "the script ended"))
    os.register_at_fork(after_in_child=_forget)


def _end_open(outcome: Outcome) -> None:
    if _open is None:
        return
    try:
        _open._end(outcome)
    except TunebookError as error:
        # What was logged is safe in the spool: the next run of this project hands it in.
        sys.stderr.write(f"tunebook: {error}\n")


def _forget() -> None:
    global _open
    _open = None
