"""The same from Python and notebooks: run a study, load its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tunebook.app import display, places, start, workflow
from tunebook.core.domains import Value
from tunebook.core.protocols import Program
from tunebook.core.results import Results
from tunebook.core.secrets import check_secrets
from tunebook.core.study import Study
from tunebook.execution import programs
from tunebook.execution.processes import DEFAULT_GRACE

if TYPE_CHECKING:
    from tunebook.app.probing import Probed
    from tunebook.report.making import Report


def run(
    study: Study,
    train: Callable[..., object] | str | None = None,
    *,
    workers: int | None = None,
    inline: bool = False,
    retry_failed: bool = False,
    grace: float = DEFAULT_GRACE,
    share_gpus: bool = False,
    stall_timeout: float | None = None,
    folder: Path | str | None = None,
    quiet: bool = False,
) -> Results:
    """Run a study with a training function; run it again to continue.

    `train` takes the run as its one argument; it may also be text such as `"train.py:train"`.
    Ctrl-C returns the results so far, and nothing finished is lost. A trial without a log, output
    or checkpoint for `stall_timeout` seconds is ended, and tried again like any that has crashed;
    by default there is only a warning. Trials wait for a GPU that another process uses, unless
    `share_gpus` is true.
    """
    check_secrets(study)
    program = _program(study, train)
    if train is not None:
        study = replace(study, program=program.reference, task=None, command=None)
    options = workflow.Options(
        workers=workers,
        inline=inline,
        retry_failed=retry_failed,
        grace=grace,
        share_gpus=share_gpus,
        stall_timeout=stall_timeout,
    )
    screen = display.choose(quiet, machine=False)
    ending, results = workflow.run(study, program, places.book_folder(folder), options, screen)
    if ending.paused:
        screen.notice(
            f"{ending.paused} Mend the function and run again: what failed is tried again when "
            "the code has changed, or with retry_failed=True."
        )
    elif ending.interrupted:
        screen.notice("Interrupted. Run again to continue.")
    return results


def load(name: str, folder: Path | str | None = None) -> Results:
    """The results of a study of the book, as they are now."""
    return workflow.results(name, places.book_folder(folder))


def report_on(
    study: Results | str,
    objective: str | None = None,
    *,
    compare: Results | str | None = None,
    folder: Path | str | None = None,
) -> Report:
    """What a study shows: problems first, with what to do about them.

    `objective` judges the trials anew: `"last"`, `"mean:5"` or a metric such as
    `"valid/loss:lower"`. A notebook shows the report with its pictures; `print` shows its text. On
    a stage of a probe it is what the whole probe has found.
    """
    from tunebook.app import reporting

    results = load(study, folder) if isinstance(study, str) else study
    if results.study.asked is not None and objective is None and compare is None:
        from tunebook.app import probing

        return probing.replayed(results, places.book_folder(folder))
    other = load(compare, folder) if isinstance(compare, str) else compare
    return reporting.on(results, objective, other)


def probe(
    name: str,
    study: Study | str,
    train: Callable[..., object] | str | None = None,
    *,
    given: Mapping[str, Value] | None = None,
    workers: int | None = None,
    retry_failed: bool = False,
    again: bool = False,
    folder: Path | str | None = None,
    quiet: bool = False,
    **options: Value,
) -> Probed:
    """A small experiment on a study's program that answers one question; again to continue.

    `study` may also name one of the book. `given` are values to start from, instead of those of
    its best trial so far; `options` are the probe's own, such as `seeds=10`. `again` begins anew,
    beside what was done before. A notebook shows the report; Ctrl-C returns without one.
    """
    from tunebook.app import asking, probing

    place = places.book_folder(folder)
    if isinstance(study, Study):
        check_secrets(study)
    known = load(study, folder).study if isinstance(study, str) else study
    program = _program(known, train)
    if train is not None:
        known = replace(known, program=program.reference, task=None, command=None)
    asked = asking.ask(name, known, options, given or {}, place, again=again)
    screen = display.choose(quiet, machine=False)
    screen.notice(f"Starts from {asked.source}.")
    limits = workflow.Options(workers=workers, retry_failed=retry_failed)
    made = probing.run(asked, program, place, limits, screen, known.file)
    if not made.ending.done:
        screen.notice(made.told)
    return made


def read(file: Path | str) -> Study:
    """The study that a study file describes."""
    return start.read_study(Path(file))


def _program(study: Study, train: Callable[..., object] | str | None) -> Program:
    if callable(train):
        return programs.of_function(train)
    named = study if train is None else replace(study, program=train, task=None, command=None)
    return start.program_of(named)
