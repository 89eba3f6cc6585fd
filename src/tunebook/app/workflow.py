"""Running a study from a file or from Python: everything between a wish and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from tunebook.app import places
from tunebook.app.progress import Display, Progress
from tunebook.core.protocols import Executor, Program, Sampler, Store
from tunebook.core.representation import counted, listed
from tunebook.core.results import Results
from tunebook.core.space import Setting
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Code, OutcomeKind, RetryPolicy
from tunebook.execution import slots
from tunebook.execution.devices import Devices, NvidiaSmi
from tunebook.execution.inline import Inline
from tunebook.execution.processes import DEFAULT_GRACE, Processes
from tunebook.execution.spec import Terms
from tunebook.running.breaker import Breaker
from tunebook.running.code import code_of
from tunebook.running.interrupts import Interrupts
from tunebook.running.loop import Ending, run_study
from tunebook.running.ownership import owned, wished_workers
from tunebook.running.patience import Patient
from tunebook.running.room import Room
from tunebook.running.stories import tell
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import open_store

# The coordinator is told soon that the book is locked, tells it, and tries again.
_BUSY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to run a study; nothing here changes what its trials are."""

    workers: int | None = None
    inline: bool = False
    retry_failed: bool = False
    grace: float = DEFAULT_GRACE
    # Whether trials run on accelerators that other processes use.
    share_gpus: bool = False
    # Seconds of silence after which a trial is ended; None only warns.
    stall_timeout: float | None = None


def run(
    study: Study, program: Program, folder: Path, options: Options, display: Display
) -> tuple[Ending, Results]:
    """Run a study to its number of trials, or continue it; returns how that ended."""
    with (
        open_store(folder, attempts=places.attempts_folder(), busy_seconds=_BUSY_SECONDS) as store,
        owned(folder, study.name),
    ):
        patient = Patient(store, display.notice)
        _tell_of_new_objective(study, patient, display.notice)
        study = patient.create(study)
        restored = patient.insist(lambda: store.take_in(study.name, tell))
        _tell_of_restored(restored, display.notice)
        ending = _run_owned(study, program, store, folder, options, display)
        return ending, store.results(study.name)


def results(name: str, folder: Path) -> Results:
    """A study of the book as it is now; nothing is written or locked."""
    with open_store(folder, readonly=True, attempts=places.attempts_folder()) as store:
        return store.results(name)


def book(folder: Path) -> tuple[Results, ...]:
    """Every study of the book, with the curves that its objective needs."""
    with open_store(folder, readonly=True, attempts=places.attempts_folder()) as store:
        return tuple(store.results(study.name, metrics=_needed(study)) for study in store.studies())


def _run_owned(
    study: Study, program: Program, store: Store, folder: Path, options: Options, display: Display
) -> Ending:
    before = store.results(study.name)
    code = _code(study, program, folder)
    _warn_of_change(before, code, display.notice)
    sampler = sampler_for(study)
    devices = NvidiaSmi()
    gpus = slots.gpus_here(devices.indices)
    room = slots.divide(
        study.resources, slots.cpus_here(), gpus, 1 if options.inline else options.workers
    )
    if not options.inline:
        _tell_of_unused(study, gpus, display.notice)
    progress = Progress(before, _totals(study, sampler), len(room))
    interrupts = Interrupts(lambda count: display.notice(_on_interrupt(count, options)))
    # Inline, the program itself is interrupted: Python's own Ctrl-C does that.
    watching = nullcontext() if options.inline else interrupts
    with watching, display.showing(progress) as show:
        return run_study(
            study,
            program,
            store=store,
            sampler=sampler,
            executor=_executor(study, folder, room, gpus, devices, options, display.notice),
            code=code,
            policy=RetryPolicy(failed=options.retry_failed),
            breaker=Breaker(has_worked=_has_worked(study, store, code)),
            interrupts=interrupts,
            watch=show,
            notice=display.notice,
            room=Room((folder, places.attempts_folder() or folder), display.notice),
        )


def _has_worked(study: Study, store: Store, code: Code) -> bool | None:
    """Whether this code has completed a trial of the probe that a study is a stage of."""
    if study.asked is None:
        return None
    stages = (one.name for one in store.studies() if one.asked == study.asked)
    return any(
        attempt.code == code
        and attempt.outcome is not None
        and attempt.outcome.kind is OutcomeKind.COMPLETE
        for stage in stages
        for record in store.results(stage, metrics=())
        for attempt in record.attempts
    )


def _needed(study: Study) -> list[str]:
    objective = study.objective
    return [objective.metric.name, *(constraint.metric for constraint in objective.constraints)]


def _totals(study: Study, sampler: Sampler) -> dict[Setting, int]:
    return {setting: sampler.count(study, setting) for setting in study.space.settings()}


def _executor(
    study: Study,
    folder: Path,
    room: Sequence[slots.Slot],
    gpus: Sequence[str],
    devices: Devices,
    options: Options,
    notice: Callable[[str], None],
) -> Executor:
    terms = Terms.of(study)
    if options.inline:
        return Inline(terms)
    joined = _joined(study, folder, len(room), gpus)
    return Processes(
        terms,
        room,
        added=lambda: next(joined),
        notice=notice,
        grace=options.grace,
        devices=None if options.share_gpus else devices,
        stall_timeout=options.stall_timeout,
    )


def _joined(
    study: Study, folder: Path, have: int, gpus: Sequence[str]
) -> Iterator[Sequence[slots.Slot]]:
    """The slots that `run --join` has asked for since the last time."""
    known = have
    while True:
        wished = have + wished_workers(folder, study.name)
        every = slots.divide(study.resources, slots.cpus_here(), gpus, wished)
        yield every[known:]
        known = max(len(every), known)


def _code(study: Study, program: Program, folder: Path) -> Code:
    path = getattr(program, "path", None)
    source = getattr(program, "code", None)
    file = Path(study.file) if study.file else None
    place = path.parent if path else Path.cwd()
    return code_of(place, source, places.differences_folder(folder), leave_out=file)


def _warn_of_change(before: Results, code: Code, notice: Callable[[str], None]) -> None:
    if not before.trials:
        return
    last = before.trials[-1].trial
    if last.code != code:
        notice(
            f"The code has changed since trial {last.number} ({last.code} -> {code}): "
            "trials from now on run the new code, and the book records which ran what."
        )


def _tell_of_new_objective(study: Study, store: Store, notice: Callable[[str], None]) -> None:
    """Curves are kept whole, so results can be read anew; how trials ended cannot."""
    known = {before.name: before.objective for before in store.studies()}
    before, after = known.get(study.name), study.objective
    if before is not None and before != after:
        notice(
            f"The objective has changed from {before} to {after}: results are read anew from the "
            "curves, but trials that have ended stay as they are."
        )


def _tell_of_unused(study: Study, gpus: Sequence[str], notice: Callable[[str], None]) -> None:
    """A study that trains on processors, beside accelerators, is rarely what somebody wants."""
    # Of a probe's stages each is run like any study, and says what its study has said already.
    if gpus and not study.resources.gpus and study.asked is None:
        them = "it" if len(gpus) == 1 else "them"
        notice(
            f"This machine has {counted(len(gpus), 'GPU')} and the study asks for none, so that "
            f"its trials see none. To use {them}, write into the study: resources: {{gpus: 1}}"
        )


def _tell_of_restored(found: Sequence[Attempt], notice: Callable[[str], None]) -> None:
    if found:
        names = listed([attempt.name for attempt in found])
        notice(
            f"The book had lost its latest commits, with {counted(len(found), 'attempt')} "
            f"({names}): taken in again from the attempts' own files."
        )


def _on_interrupt(count: int, options: Options) -> str:
    if count > 1:
        return "Ending every trial at once."
    return (
        f"Stopping: trials have {options.grace:g} s to save and leave. "
        "Ctrl-C again ends them at once."
    )
