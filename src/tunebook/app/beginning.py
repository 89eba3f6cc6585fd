"""A first study file for a training function, or for a script of any kind."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tunebook.app import inspection, places, scripts
from tunebook.app.start import write_text
from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.masking import is_secret
from tunebook.core.objective import Metric
from tunebook.execution import programs, slots
from tunebook.execution.commands import search_path
from tunebook.execution.devices import NvidiaSmi
from tunebook.studyfile import command_template, parse, template
from tunebook.studyfile.roles import PLACE, entries

# A program that names no metric in plain sight may return its result: any name does for that.
_ANY = Metric("valid/error")


@dataclass(frozen=True, slots=True)
class Begun:
    """The file that was written, for what, and which parameters still lack a value.

    `metric` tells whether the program names one; `form` is "function", "command", or "environment"
    for a command without options. `warnings` are sentences on what the file cannot say.
    """

    path: Path
    form: str
    program: str
    lacking: tuple[str, ...]
    metric: bool
    warnings: tuple[str, ...] = ()


def write_study_file(
    words: Sequence[str], output: Path | None = None, name: str | None = None, *, force: bool
) -> Begun:
    """Write a first study file for `FILE.py:FUNCTION`, for `FILE.py`, or for a command."""
    if not words:
        raise ProgramError(
            "name a training function, FILE.py:FUNCTION, or a command after --: "
            "tunebook init -- python train.py"
        )
    reference = _function(words)
    if reference is not None:
        return _for_function(reference, output, name, force)
    command = ["python", *words] if len(words) == 1 and words[0].endswith(".py") else [*words]
    return _for_command(command, output, name, force)


def _function(words: Sequence[str]) -> str | None:
    """The training function that is meant, or None where a command is."""
    if len(words) > 1:
        return None
    (word,) = words
    if ":" in word:
        return word
    path = Path(word)
    if path.suffix != ".py":
        if path.is_file() and not os.access(path, os.X_OK):
            raise ProgramError(
                f"{word!r} is not executable; name what runs it: tunebook init -- bash {word}"
            )
        if "/" in word or path.is_file() or shutil.which(word, path=search_path()):
            return None
        raise ProgramError(
            f"{word!r} does not name a training function; write FILE.py:FUNCTION, or a command "
            "after --: tunebook init -- python train.py"
        )
    if not path.is_file():
        raise ProgramError(f"there is no file {word!r} here")
    if inspection.can_train(path, "train", sure=not scripts.has_options(path)):
        return f"{word}:train"
    if scripts.has_options(path):
        return None
    raise ProgramError(
        f"{word} has no function train(run) and no options; write FILE.py:FUNCTION, or a command "
        "after --: tunebook init -- python train.py"
    )


def _for_function(reference: str, output: Path | None, name: str | None, force: bool) -> Begun:
    program = programs.parse(reference, Path.cwd())
    if program.path is None or not program.path.is_file():
        raise ProgramError(f"there is no file {program.source!r} here; write FILE.py:FUNCTION")
    found = inspection.inspect_program(program.path, program.function)
    study = name or places.study_name(program.source)
    path = _free(output or Path(f"{study}.yaml"), force)
    named = inspection.choose_metric(found.metrics)
    metric = named or _ANY
    content = template(
        study,
        f"{os.path.relpath(program.path, path.parent)}:{program.function}",
        found.parameters,
        metric.name,
        metric.better,
        found.arguments,
        gpus=_has_gpus(),
    )
    space = parse(content, str(path)).space
    write_text(path, content)
    lacking = tuple(parameter for parameter, _ in found.parameters if parameter not in space)
    return Begun(path, "function", reference, lacking, True, _defaults_in_force(reference, found))


def _defaults_in_force(reference: str, found: inspection.Program) -> tuple[str, ...]:
    if not found.arguments:
        return ()
    shown = ", ".join(
        name
        if value is None or (isinstance(value, str) and is_secret(name, value))
        else f"{name}={value!r}"
        for name, value in found.arguments
    )
    return (
        f"{reference} is called with the run alone: the defaults in its signature stay in force "
        f"({shown}). To make one a parameter, read run[{found.arguments[0][0]!r}] in the function, "
        "and take the '#' from its line in the file.",
    )


def _for_command(
    command: Sequence[str], output: Path | None, name: str | None, force: bool
) -> Begun:
    path = scripts.source_of(command)
    files = [word for word in command[1:] if Path(word).is_file()]
    study = name or places.study_name(str(path) if path else (*files, command[0])[0])
    place = _free(output or Path(f"{study}.yaml"), force)
    script = scripts.examine(command)
    named = inspection.choose_metric(script.declared.metrics)
    metric = named or _ANY
    content = command_template(
        study,
        [_seen_from(place.parent, word) for word in command],
        script.options,
        script.style,
        script.declared.source,
        metric.name,
        metric.better,
        script.lacking,
        script.variables,
        gpus=_has_gpus(),
    )
    parse(content, str(place))
    write_text(place, content)
    lines = entries([*script.options.values()], command=True)
    given = {line.name for line in lines if line.content is not None or line.section == PLACE}
    lacking = tuple(f.name for f in script.options.values() if f.required and f.name not in given)
    form = "environment" if script.style == "environment" else "command"
    every = (*script.lacking, *lacking)
    return Begun(place, form, shlex.join(command), every, named is not None)


def _has_gpus() -> bool:
    return bool(slots.gpus_here(NvidiaSmi().indices))


def _free(path: Path, force: bool) -> Path:
    if path.exists() and not force:
        raise StudyError(f"{path} exists; choose another with --output, or replace it by --force")
    return path


def _seen_from(folder: Path, word: str) -> str:
    """A word of a command that will run in another folder: files are still found."""
    if Path(word).is_absolute() or not Path(word).exists():
        return word
    seen = os.path.relpath(word, folder)
    return f"./{seen}" if word.startswith("./") and not seen.startswith("..") else seen
