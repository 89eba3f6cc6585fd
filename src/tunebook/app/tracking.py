"""`tunebook.init()`, `log` and `finish`: tracking for a script, inside a study or on its own.

A script of its own is its own coordinator: it claims a trial in the book when it begins and hands
in what it logged when it finishes. Meanwhile it writes its spool only, like any trial; if it is
killed, the next script of its project hands that in.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from tunebook.app import places
from tunebook.app.reproducing import call_note
from tunebook.app.tracked import NO_TERMS, TrackedRun, finish_open, hand_in, track
from tunebook.core.domains import Value
from tunebook.core.errors import StudyChanged, StudyOwned, TunebookError
from tunebook.core.masking import MASK, is_secret
from tunebook.core.objective import Better, Metric, Objective
from tunebook.core.protocols import Proposal, Store
from tunebook.core.space import Setting, Space
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Code, Listed, Trial
from tunebook.execution import current, here
from tunebook.execution.spec import Spec
from tunebook.running.code import code_of
from tunebook.running.ownership import owned
from tunebook.running.stories import tell
from tunebook.storage.sqlite import open_store

# Scripts that begin at the same moment begin one after another, each in a few milliseconds.
_PATIENCE_SECONDS = 30.0
# Of a script that has not said otherwise.
_SEED = 0


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

    Of several processes started by `torchrun`, the first writes the book; the others get a run that
    answers in the same way and keeps nothing.
    """
    finish_open()
    inside = current.get_run()
    if inside is not None:
        return TrackedRun(inside)
    name = project or places.study_name(sys.argv[0] if sys.argv else "")
    if os.environ.get("RANK", "0") != "0":
        return track(_begin_apart(name, _flat(config or {})), place=None)
    place = places.book_folder(folder)
    study = Study(name, Space(), Objective(Metric(metric, better)), note=note)
    code = _code(place)
    with open_store(place, attempts=places.attempts_folder()) as store, ExitStack() as stack:
        _wait_for_turn(stack, place, name)
        _create(store, study)
        store.take_in(name, tell)
        _hand_in_the_dead(store, name)
        begun = _begin(store, name, _flat(config or {}), code)
    return track(begun, place)


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


def _code(place: Path) -> Code:
    script = Path(sys.argv[0]) if sys.argv and sys.argv[0].endswith(".py") else None
    source = script.read_bytes() if script and script.is_file() else None
    return code_of(Path.cwd(), source, places.differences_folder(place))


def _begin(store: Store, name: str, config: Mapping[str, Value], code: Code) -> here.RunHere:
    index = len(store.results(name, metrics=()))
    attempt = store.claim(name, Proposal(Setting(), config, _SEED, Listed(index)), code)
    begun = here.begin(Spec(attempt, NO_TERMS))
    if begun is None:
        raise TunebookError(f"{attempt.name} is already running in another process")
    note = call_note()
    if note is not None:
        begun.run.note(note)
    return begun


def _begin_apart(name: str, config: Mapping[str, Value]) -> here.RunHere:
    """The run of a process that is not to write: the same, in a place that nobody looks at."""
    trial = Trial(name, 1, Setting(), config, _SEED, Listed(0))
    folder = Path(tempfile.mkdtemp(prefix="tunebook-")) / "1"
    begun = here.begin(Spec(Attempt(trial, 1, "apart", str(folder)), NO_TERMS))
    assert begun is not None, "nobody else knows the folder"
    return begun


def _hand_in_the_dead(store: Store, study: str) -> None:
    """Take in what scripts that were killed have left in their spools."""
    for record in store.results(study, metrics=()):
        for known in record.attempts:
            if known.outcome is None:
                hand_in(store, Attempt(record.trial, known.number, known.token, known.folder))


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
            plain = _plain(value)
            # The script has it; the book does without.
            hidden = isinstance(plain, str) and is_secret(str(name), plain)
            flat[f"{prefix}{name}"] = MASK if hidden else plain
    return flat


def _plain(value: object) -> Value:
    number = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(number, bool | int | str | None):
        return number
    return number if isinstance(number, float) and math.isfinite(number) else str(value)
