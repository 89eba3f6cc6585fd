"""`tunebook.init()`, `log` and `finish`: tracking for a script, inside a study or on its own.

A script of its own is its own coordinator: it claims a trial in the book when it begins and hands
in what it logged when it finishes. Meanwhile it writes its spool only, like any trial; if it is
killed, the next script of its project hands that in.
"""

from __future__ import annotations

import atexit
import functools
import math
import os
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from tunebook.app import places
from tunebook.app.reproducing import call_note
from tunebook.core.domains import Value
from tunebook.core.errors import StudyChanged, StudyOwned, TunebookError
from tunebook.core.objective import Better, Metric, Objective
from tunebook.core.protocols import Proposal, Store
from tunebook.core.space import Setting, Space
from tunebook.core.study import Budget, Divergence, Study
from tunebook.core.trials import Attempt, Listed, Outcome, OutcomeKind
from tunebook.execution import current, here
from tunebook.execution.following import Follower
from tunebook.execution.outcomes import of_exception
from tunebook.execution.run import SpoolRun, TrialEnded
from tunebook.execution.spec import Spec, Terms
from tunebook.running.code import code_of
from tunebook.running.ownership import owned
from tunebook.storage.sqlite import open_store

_NO_TERMS = Terms(metric=None, divergence=Divergence(), budget=None)
# Scripts that begin at the same moment begin one after another, each in a few milliseconds.
_PATIENCE_SECONDS = 30.0


class TrackedRun:
    """A run that its script begins and finishes itself, or that of the trial it runs in."""

    def __init__(self, run: SpoolRun, own: tuple[here.RunHere, Path] | None = None) -> None:
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
        self._run.end(outcome)
        begun.release()
        with open_store(place, attempts=places.attempts_folder()) as store:
            _hand_in(store, self._run.attempt)


# The run that this script has begun and not finished. A forked child has none.
_open: TrackedRun | None = None


def init(
    project: str | None = None,
    config: Mapping[str, object] | object | None = None,
    *,
    metric: str = "loss",
    better: Better = "lower",
    note: str = "",
    folder: Path | str | None = None,
) -> TrackedRun:
    """Begin to track this script, or join the trial of a study that runs it.

    On its own, the script becomes a trial of the book's study `project` (its file's name unless
    given); `metric` is the one by which the book ranks its runs. `config` is a mapping, or an
    object such as the arguments of `argparse`. A run that has not been finished is finished first.
    Within a study, the trial's own configuration counts, and all of this is left aside.
    """
    global _open
    if _open is not None:
        _open.finish()
    inside = current.get_run()
    if inside is not None:
        return TrackedRun(inside)
    place = places.book_folder(folder)
    name = project or places.study_name(sys.argv[0] if sys.argv else "")
    study = Study(name, Space(), Objective(Metric(metric, better)), note=note)
    with open_store(place, attempts=places.attempts_folder()) as store, ExitStack() as stack:
        _wait_for_turn(stack, place, name)
        _create(store, study)
        _hand_in_the_dead(store, name)
        begun = _begin(store, name, _flat(config or {}), place)
    current.set_run(begun.run)
    _watch_the_end()
    _open = TrackedRun(begun.run, (begun, place))
    return _open


def log(metrics: Mapping[str, object], step: int | None = None) -> None:
    """Report numbers of the run of this process."""
    run = current.get_run()
    if run is None:
        raise TunebookError("there is no run to log to; call tunebook.init() first")
    run.log(metrics, step)


def _create(store: Store, study: Study) -> None:
    try:
        store.create(study)
    except StudyChanged:
        raise TunebookError(
            f"{study.name!r} is a study of this book with parameters of its own; "
            "give the script another name: tunebook.init(project=...)"
        ) from None


def _wait_for_turn(stack: ExitStack, place: Path, name: str) -> None:
    """Own the project's study until the stack closes, as soon as nobody else does."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return stack.enter_context(owned(place, name))
        except StudyOwned:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _begin(store: Store, name: str, config: Mapping[str, Value], place: Path) -> here.RunHere:
    script = Path(sys.argv[0]) if sys.argv and sys.argv[0].endswith(".py") else None
    code = code_of(Path.cwd(), script, places.differences_folder(place))
    index = len(store.results(name, metrics=()))
    attempt = store.claim(name, Proposal(Setting(), config, 0, Listed(index)), code)
    begun = here.begin(Spec(attempt, _NO_TERMS))
    if begun is None:
        raise TunebookError(f"{attempt.name} is already running in another process")
    note = call_note()
    if note is not None:
        begun.run.note(note)
    return begun


def _hand_in_the_dead(store: Store, study: str) -> None:
    """Take in what scripts that were killed have left in their spools."""
    for record in store.results(study, metrics=()):
        for known in record.attempts:
            if known.outcome is None:
                _hand_in(store, Attempt(record.trial, known.number, known.token, known.folder))


def _hand_in(store: Store, attempt: Attempt) -> None:
    follower = Follower(Spec(attempt, _NO_TERMS))
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


def _flat(config: object, prefix: str = "") -> dict[str, Value]:
    """Nested configurations as dotted names; what is neither number nor text becomes text.

    >>> _flat({"lr": 0.1, "model": {"depth": 3, "sizes": [64, 64]}})
    {'lr': 0.1, 'model.depth': 3, 'model.sizes': '[64, 64]'}
    """
    flat: dict[str, Value] = {}
    for name, value in (config if isinstance(config, Mapping) else vars(config)).items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = _plain(value)
    return flat


def _plain(value: object) -> Value:
    number = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(number, bool | int | str | None):
        return number
    return number if isinstance(number, float) and math.isfinite(number) else str(value)
