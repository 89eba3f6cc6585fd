"""What the commands do with files and names before the real work begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tunebook.app import display, workflow
from tunebook.core.errors import StudyChanged, StudyError, UnknownName
from tunebook.core.representation import counted
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.execution import commands, programs
from tunebook.running import ownership
from tunebook.running.loop import Ending

REFERENCE_LOOP = "tunebook.training.loop:trainer"


@dataclass(frozen=True, slots=True)
class Wish:
    """A study file, and what the command line says instead of it."""

    file: Path
    trials: int | None = None
    new_study: str | None = None

    def study(self) -> Study:
        study = read_study(self.file)
        if self.trials is not None:
            study = replace(study, trials=self.trials)
        return study.child(self.new_study) if self.new_study is not None else study


def read_study(file: Path) -> Study:
    """The study in a file, which it remembers."""
    from tunebook import studyfile

    return replace(studyfile.read(file), file=str(file))


def program_of(study: Study) -> programs.NamedFunction | commands.CommandProgram:
    """The program that a study names, found from the folder of its file on."""
    base = Path(study.file).parent if study.file else Path.cwd()
    if study.task is not None:
        return programs.parse_task(study.task, base, by=REFERENCE_LOOP)
    if study.command is not None:
        return commands.of(study.command, base)
    if study.program is None:
        raise StudyError(
            f"{study.name} names no program; add a line such as 'program: train.py:train' to its "
            "file, or pass a function: tunebook.run(study, train)"
        )
    program = programs.parse(study.program, base)
    programs.check_file(program)
    return program


def run_file(
    wish: Wish, folder: Path, options: workflow.Options, *, quiet: bool, machine: bool = False
) -> tuple[Ending, Results]:
    """Run a study file, or continue it."""
    study = wish.study()
    screen = display.choose(quiet, machine)
    try:
        return workflow.run(study, program_of(study), folder, options, screen)
    except StudyChanged as changed:
        raise _with_ways_on(changed, study) from None


def join(wish: Wish, folder: Path, workers: int) -> str:
    """Add workers to the process that runs the study."""
    name = wish.study().name
    if workers < 1:
        raise StudyError(f"the number of workers must be at least 1, got {workers}")
    if ownership.ask_for_workers(folder, name, workers):
        return f"Asked the process that runs {name} for {counted(workers, 'more worker')}."
    raise UnknownName(f"no process runs {name} now; leave out --join to run it here")


def split_trial(name: str) -> tuple[str, int]:
    """The study and the number in the name of a trial.

    >>> split_trial("depth/12")
    ('depth', 12)
    """
    study, _, number = name.rpartition("/")
    if not study or not number.isdecimal():
        raise UnknownName(f"{name!r} does not name a trial; write STUDY/TRIAL, such as depth/12")
    return study, int(number)


def find_trials(names: Sequence[str], folder: Path) -> list[tuple[Results, TrialRecord]]:
    """Trials of the book, to be compared."""
    if len(names) < 2:
        raise UnknownName(f"comparing needs two trials or more, got {len(names)}")
    wanted = [split_trial(name) for name in names]
    loaded = {study: workflow.results(study, folder) for study in dict(wanted)}
    return [(loaded[study], loaded[study][number]) for study, number in wanted]


def write_text(path: Path, content: str) -> None:
    """Write a file for the user, or say why not."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise StudyError(f"cannot write {path}: {error.strerror}") from None


def _with_ways_on(changed: StudyChanged, study: Study) -> StudyChanged:
    lines = [
        f"{study.file} differs from the study {study.name} in the book, so that their trials could "
        "not be compared:",
        *(f"  {line}" for line in changed.difference),
        f"Either run it as a new study: tunebook run {study.file} --new-study {study.name}-2",
        f"or put the old values back, which are in: tunebook show {study.name} --file",
    ]
    return StudyChanged("\n".join(lines), changed.difference)
