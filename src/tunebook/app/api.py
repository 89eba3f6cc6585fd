"""The same from Python and notebooks: run a study, load its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tunebook.app import display, places, workflow
from tunebook.core.errors import StudyError
from tunebook.core.protocols import Program
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.execution import programs


def run(
    study: Study,
    train: Callable[..., object] | str | None = None,
    *,
    workers: int | None = None,
    inline: bool = False,
    retry_failed: bool = False,
    grace: float = 10.0,
    folder: Path | str | None = None,
    quiet: bool = False,
) -> Results:
    """Run a study with a training function; run it again to continue.

    `train` takes the run as its one argument; it may also be text such as `"train.py:train"`.
    Ctrl-C returns the results so far, and nothing finished is lost.
    """
    program = _program(study, train)
    if study.program is None:
        study = replace(study, program=program.reference)
    options = workflow.Options(
        workers=workers, inline=inline, retry_failed=retry_failed, grace=grace
    )
    screen = display.choose(quiet, machine=False)
    place = places.book_folder(Path(folder) if folder else None)
    ending, results = workflow.run(study, program, place, options, screen)
    if ending.paused:
        screen.notice(f"{ending.paused} Mend the function and run again.")
    return results


def load(name: str, folder: Path | str | None = None) -> Results:
    """The results of a study of the book, as they are now."""
    return workflow.results(name, places.book_folder(Path(folder) if folder else None))


def read(file: Path | str) -> Study:
    """The study that a study file describes."""
    from tunebook import studyfile

    return replace(studyfile.read(Path(file)), file=str(file))


def _program(study: Study, train: Callable[..., object] | str | None) -> Program:
    if callable(train):
        return programs.of_function(train)
    reference = train or study.program
    if reference is None:
        raise StudyError(
            f"{study.name} has no program; pass a function: tunebook.run(study, train)"
        )
    base = Path(study.file).resolve().parent if study.file else Path.cwd()
    return programs.parse(reference, base)
