"""What the commands do with files and names before the real work begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tunebook.app import describe, display, places, workflow
from tunebook.core.errors import ProgramError, StudyChanged, StudyError, UnknownName
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.execution import programs
from tunebook.running import ownership
from tunebook.running.loop import Ending


@dataclass(frozen=True, slots=True)
class Wish:
    """A study file, and what the command line says instead of it."""

    file: Path
    trials: int | None = None
    new_study: str | None = None

    def study(self) -> Study:
        from tunebook import studyfile

        study = replace(studyfile.read(self.file), file=str(self.file))
        if self.trials is not None:
            study = replace(study, trials=self.trials)
        if self.new_study is not None:
            study = study.child(self.new_study)
        return study

    def program(self, study: Study) -> programs.NamedFunction:
        if study.program is None:
            raise StudyError(
                f"{self.file} names no program; add a line such as 'program: train.py:train'"
            )
        return programs.parse(study.program, self.file.resolve().parent)


def run_file(
    wish: Wish, folder: Path | None, options: workflow.Options, *, quiet: bool, as_json: bool
) -> tuple[str, dict[str, Any], str | None]:
    """Run a study file: how that ended, the study as data, and the reason for a pause."""
    study = wish.study()
    program = wish.program(study)
    screen = display.choose(quiet, machine=as_json)
    try:
        ending, results = workflow.run(study, program, places.book_folder(folder), options, screen)
    except StudyChanged as changed:
        raise StudyChanged(f"{changed}\n{_ways_on(wish, study)}", changed.difference) from None
    return _word(ending), describe.study(results), _reason(ending)


def join(wish: Wish, folder: Path | None, workers: int) -> str:
    """Add workers to the process that runs the study."""
    study = wish.study()
    if ownership.ask_for_workers(places.book_folder(folder), study.name, workers):
        return f"Asked the process that runs {study.name} for {workers} more workers."
    raise UnknownName(f"no process runs {study.name} now; leave out --join to run it here")


def find_trials(names: Sequence[str], folder: Path) -> list[tuple[Results, TrialRecord]]:
    """`depth/12` as trials of the book."""
    if len(names) < 2:
        raise UnknownName(f"comparing needs two trials or more, got {len(names)}")
    studies: dict[str, Results] = {}
    found = []
    for name in names:
        study, separator, number = name.rpartition("/")
        if not separator or not number.isdigit():
            raise UnknownName(
                f"{name!r} does not name a trial; write STUDY/TRIAL, such as depth/12"
            )
        results = studies.get(study) or workflow.results(study, folder)
        studies[study] = results
        found.append((results, results[int(number)]))
    return found


def write_study_file(reference: str, output: Path | None, name: str | None, *, force: bool) -> Path:
    """Write a starting study file for a training function."""
    from tunebook import studyfile
    from tunebook.app.inspection import parameters_of

    program = programs.parse(reference, Path.cwd())
    if program.path is None or not program.path.is_file():
        raise ProgramError(f"there is no file {program.source!r} here; write FILE.py:FUNCTION")
    study = name or program.path.stem
    path = output or Path(f"{study}.yaml")
    if path.exists() and not force:
        raise StudyError(f"{path} exists; choose another with --output, or replace it by --force")
    found = parameters_of(program.path, program.function)
    path.write_text(studyfile.template(study, reference, found))
    return path


def _word(ending: Ending) -> str:
    if ending.interrupted:
        return "interrupted"
    return "paused" if ending.paused else "done"


def _reason(ending: Ending) -> str | None:
    if ending.paused is None:
        return None
    return (
        f"{ending.paused} Mend the program and run again: failed trials are tried again "
        "when the code has changed, or with --retry-failed."
    )


def _ways_on(wish: Wish, study: Study) -> str:
    return (
        f"Either run it as a new study: tunebook run {wish.file} --new-study {study.name}-2\n"
        f"or put the old values back: tunebook show {study.name} --file"
    )
