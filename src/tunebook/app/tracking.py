"""`tunebook.init()`, `log` and `finish`: tracking for a script, inside a study or on its own.

A script of its own is its own coordinator: it claims a trial in the book when it begins and hands
in what it logged when it finishes. Meanwhile it writes its spool only, like any trial.
"""

from __future__ import annotations

import atexit
import math
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from tunebook.app import places
from tunebook.core.domains import Value
from tunebook.core.errors import StoreError, TunebookError
from tunebook.core.objective import Better, Metric, Objective
from tunebook.core.protocols import Proposal, Store
from tunebook.core.space import Setting, Space
from tunebook.core.study import Budget, Divergence, Study
from tunebook.core.trials import Attempt, Listed, Outcome, OutcomeKind
from tunebook.execution import current, here
from tunebook.execution.following import Follower
from tunebook.execution.outcomes import of_exception
from tunebook.execution.run import SpoolRun
from tunebook.execution.spec import Spec, Terms
from tunebook.running.code import code_of
from tunebook.storage.sqlite import open_store

# Runs that begin at the same moment want the same place; all but one must ask again.
_MOST_TRIES = 100
_NO_TERMS = Terms(metric=None, divergence=Divergence(), budget=None)


class TrackedRun:
    """A run that its script begins and finishes itself."""

    def __init__(self, run: SpoolRun, finish: Callable[[Outcome], None] | None = None) -> None:
        self._run = run
        self._finish = finish

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
    def should_stop(self) -> bool:
        return self._run.should_stop

    def __getitem__(self, name: str) -> Value:
        return self._run[name]

    def log(self, metrics: Mapping[str, object], step: int | None = None) -> None:
        """Report numbers at a step."""
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
        if self._finish is not None:
            self._finish(Outcome(OutcomeKind.COMPLETE, "finished"))

    def __enter__(self) -> TrackedRun:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._finish is not None:
            self._finish(of_exception(error))
        else:
            self.finish()


def init(
    project: str | None = None,
    config: Mapping[str, object] | None = None,
    *,
    metric: str = "loss",
    better: Better = "lower",
    note: str = "",
    folder: Path | str | None = None,
) -> TrackedRun:
    """Begin to track this script, or join the trial of a study that runs it.

    On its own, the script becomes a trial of the book's study `project` (its file's name unless
    given); `metric` is the one by which the book ranks its runs.
    """
    inside = current.get_run()
    if inside is not None:
        return TrackedRun(inside)
    place = places.book_folder(Path(folder) if folder else None)
    name = project or _script_name()
    study = Study(name, Space(), Objective(Metric(metric, better)), note=note)
    with open_store(place, attempts=places.attempts_folder()) as store:
        store.create(study)
        _hand_in_the_dead(store, name)
        attempt = _claim(store, name, config or {}, place)
    begun = here.begin(Spec(attempt, _NO_TERMS))
    if begun is None:
        raise TunebookError(f"{attempt.name} is already running in another process")
    return _track(begun, place)


def log(metrics: Mapping[str, object], step: int | None = None) -> None:
    """Report numbers of the run of this process."""
    run = current.get_run()
    if run is None:
        raise TunebookError("there is no run to log to; call tunebook.init() first")
    run.log(metrics, step)


def _track(begun: here.RunHere, place: Path) -> TrackedRun:
    current.set_run(begun.run)

    def finish(outcome: Outcome) -> None:
        if current.get_run() is not begun.run:
            return
        current.set_run(None)
        begun.run.end(outcome)
        begun.release()
        with open_store(place, attempts=places.attempts_folder()) as store:
            _hand_in(store, begun.run.attempt)

    _finish_at_exit(finish)
    return TrackedRun(begun.run, finish)


def _finish_at_exit(finish: Callable[[Outcome], None]) -> None:
    """A script that ends without `finish` is complete; one that ends in an exception has failed."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        finish(of_exception(error))
        before(kind, error, trace)

    sys.excepthook = hook
    atexit.register(finish, Outcome(OutcomeKind.COMPLETE, "the script ended"))


def _claim(store: Store, study: str, config: Mapping[str, object], place: Path) -> Attempt:
    script = Path(sys.argv[0]) if sys.argv[0].endswith(".py") else None
    source = script if script is not None and script.is_file() else None
    code = code_of(Path.cwd(), source, places.differences_folder(place))
    params = _flat(config)
    for _ in range(_MOST_TRIES):
        index = len(store.results(study, metrics=()))
        with suppress(StoreError):
            return store.claim(study, Proposal(Setting(), params, 0, Listed(index)), code)
    raise StoreError(f"too many runs of {study} begin at once; try again")


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


def _flat(config: Mapping[str, object], prefix: str = "") -> dict[str, Value]:
    """Nested configurations as dotted names; what is neither number nor text becomes text.

    >>> _flat({"lr": 0.1, "model": {"depth": 3, "sizes": [64, 64]}})
    {'lr': 0.1, 'model.depth': 3, 'model.sizes': '[64, 64]'}
    """
    flat: dict[str, Value] = {}
    for name, value in config.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}" or "_"] = _plain(value)
    return flat


def _plain(value: object) -> Value:
    if isinstance(value, bool | int | str | None):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def _script_name() -> str:
    stem = Path(sys.argv[0]).stem if sys.argv and sys.argv[0] else ""
    name = "".join(c if c.isalnum() or c in "_.-" else "-" for c in stem).lstrip(".-")
    return name or "runs"
