"""Running a study from a file or from Python: everything between a wish and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tunebook.app import places
from tunebook.app.progress import Progress
from tunebook.core.events import Event
from tunebook.core.protocols import Executor, Program, Sampler
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.core.trials import Code, RetryPolicy
from tunebook.execution import programs, slots
from tunebook.execution.inline import Inline
from tunebook.execution.processes import DEFAULT_GRACE, Processes
from tunebook.execution.spec import Terms
from tunebook.running.breaker import Breaker
from tunebook.running.code import code_of
from tunebook.running.interrupts import Interrupts
from tunebook.running.loop import Ending, run_study
from tunebook.running.ownership import owned, wished_workers
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import open_store


class Display(Protocol):
    """What shows a run to its user."""

    def begin(self, progress: Progress) -> None: ...

    def show(self, event: Event) -> None: ...

    def notice(self, text: str) -> None: ...

    def end(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Options:
    """How to run a study; nothing here changes what its trials are."""

    workers: int | None = None
    inline: bool = False
    retry_failed: bool = False
    grace: float = DEFAULT_GRACE
    crashes: int = RetryPolicy().crashes
    most_failures: int = 5


def run(
    study: Study, program: Program, folder: Path, options: Options, display: Display
) -> tuple[Ending, Results]:
    """Run a study to its number of trials, or continue it; returns how that ended."""
    with open_store(folder, attempts=places.attempts_folder()) as store:
        study = store.create(study)
        with owned(folder, study.name):
            code = _code(program, folder)
            before = store.results(study.name)
            _warn_of_change(before, code, display.notice)
            sampler = sampler_for(study)
            room = _slots(study, options)
            progress = Progress(before, _totals(study, sampler), len(room))
            executor = _executor(study, folder, room, options, display.notice)
            interrupts = Interrupts(lambda count: display.notice(_on_interrupt(count, options)))
            display.begin(progress)
            try:
                # Inline, the program itself is interrupted: Python's own Ctrl-C does that.
                if not options.inline:
                    interrupts.__enter__()
                ending = run_study(
                    study,
                    program,
                    store=store,
                    sampler=sampler,
                    executor=executor,
                    code=code,
                    policy=RetryPolicy(crashes=options.crashes, failed=options.retry_failed),
                    breaker=Breaker(options.most_failures),
                    interrupts=interrupts,
                    watch=display.show,
                )
            finally:
                interrupts.__exit__()
                display.end()
            return ending, store.results(study.name)


def results(name: str, folder: Path) -> Results:
    """A study of the book as it is now; nothing is written or locked."""
    with open_store(folder, readonly=True, attempts=places.attempts_folder()) as store:
        return store.results(name)


def book(folder: Path) -> tuple[Results, ...]:
    """Every study of the book, with the curves that its objective needs."""
    with open_store(folder, readonly=True, attempts=places.attempts_folder()) as store:
        return tuple(store.results(study.name, metrics=_needed(study)) for study in store.studies())


def _needed(study: Study) -> list[str]:
    objective = study.objective
    return [objective.metric.name, *(constraint.metric for constraint in objective.constraints)]


def _totals(study: Study, sampler: Sampler) -> dict:  # type: ignore[type-arg]
    return {setting: sampler.count(study, setting) for setting in study.space.settings()}


def _slots(study: Study, options: Options) -> tuple[slots.Slot, ...]:
    cpus, gpus = slots.cpus_here(), slots.gpus_here()
    return slots.divide(study.resources, cpus, gpus, 1 if options.inline else options.workers)


def _executor(
    study: Study,
    folder: Path,
    room: Sequence[slots.Slot],
    options: Options,
    notice: Callable[[str], None],
) -> Executor:
    terms = Terms.of(study)
    if options.inline:
        return Inline(terms)
    joined = _joined(study, folder, len(room))
    return Processes(terms, room, added=lambda: next(joined), notice=notice, grace=options.grace)


def _joined(study: Study, folder: Path, have: int) -> Iterator[Sequence[slots.Slot]]:
    """The slots that `run --join` has asked for since the last time."""
    known = 0
    while True:
        wished = wished_workers(folder, study.name)
        every = slots.divide(study.resources, slots.cpus_here(), slots.gpus_here(), have + wished)
        yield every[have + known :]
        known = max(len(every) - have, known)


def _code(program: Program, folder: Path) -> Code:
    path = program.path if isinstance(program, programs.NamedFunction) else None
    return code_of(path.parent if path else Path.cwd(), path, places.differences_folder(folder))


def _warn_of_change(before: Results, code: Code, notice: Callable[[str], None]) -> None:
    if not before.trials:
        return
    last = before.trials[-1].trial
    if last.code != code:
        notice(
            f"The code has changed since trial {last.number} ({last.code} -> {code}): "
            "trials from now on run the new code, and the book records which ran what."
        )


def _on_interrupt(count: int, options: Options) -> str:
    if count == 1:
        return (
            f"Stopping: trials have {options.grace:g} s to save and leave. "
            "Ctrl-C again ends them at once."
        )
    return "Ending every trial at once."
