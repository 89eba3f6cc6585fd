"""A training script of any kind: its options, asked of the script itself, and its first study."""

from __future__ import annotations

import ast
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tunebook.app import help_text, variables
from tunebook.app.declared import Declared, declared
from tunebook.core.commands import OverrideStyle
from tunebook.core.errors import ProgramError
from tunebook.execution.commands import search_path
from tunebook.studyfile.roles import Found

_SECONDS = 60.0
_MOST_BYTES = 1 << 20
_PARSERS = ("argparse", "click", "typer", "absl", "hydra", "fire", "tyro", "simple_parsing")


@dataclass(frozen=True)
class Script:
    """A command, its options by how they are written, and how to pass parameters to it.

    `lacking` are arguments without a name that it needs and was not given. A script without options
    may read `variables` of its environment.
    """

    command: tuple[str, ...]
    options: dict[str, Found]
    style: OverrideStyle
    declared: Declared
    lacking: tuple[str, ...] = ()
    variables: dict[str, Found] = field(default_factory=dict)


def examine(command: Sequence[str]) -> Script:
    """Ask a command for its options; what its help does not say, its source may."""
    shell = variables.shell_script(command)
    if shell is not None and not variables.answers_help(shell):
        # It would train.
        _program(command)
        return _by_environment(command, shell)
    text, code = _help(command)
    path = source_of(command)
    known = declared(path) if path is not None else Declared()
    config = help_text.hydra(text)
    if config is not None:
        return Script(tuple(command), _not_given(config, command), "hydra", known)
    options = help_text.options(text)
    if not options and code and shell is None and not _lacks_variable(text, path):
        last = "\n".join(text.strip().splitlines()[-5:])
        raise ProgramError(
            f"cannot ask for the options: {shlex.join(command)} --help ends with exit code {code}"
            + (f":\n{last}" if last else "")
        )
    merged = _merged(options or known.options, known.options)
    if not merged:
        return _by_environment(command, shell, known)
    left = _not_given(merged, command)
    lacking = help_text.positional(text)[len(_given_words(command, merged)) :]
    return Script(tuple(command), left, _style(left), known, lacking)


def _lacks_variable(text: str, path: Path | None) -> bool:
    """Whether a Python script ended since a variable of its environment was not there."""
    names = variables.read_by_python(path) if path is not None else {}
    return any(f"KeyError: '{name}'" in text for name in names)


def _by_environment(
    command: Sequence[str], shell: Path | None, known: Declared | None = None
) -> Script:
    """A script without options, and what it reads from its environment."""
    path = source_of(command)
    found = variables.read_by_python(path) if path is not None else {}
    if shell is not None:
        found |= variables.read_by_shell(shell)
    return Script(tuple(command), {}, "environment", known or Declared(), (), found)


def source_of(command: Sequence[str]) -> Path | None:
    """The Python file of a command, where it has one."""
    for argument in command:
        path = Path(argument)
        if path.suffix == ".py" and path.is_file():
            return path
    if "-m" in command[:-1]:
        module = command[list(command).index("-m") + 1].replace(".", "/")
        return next(
            (p for p in (Path(f"{module}.py"), Path(module, "__main__.py")) if p.is_file()), None
        )
    return None


def has_options(path: Path) -> bool:
    """Whether a Python file is a script with options, or one that is run at all."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return False
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(n.name.split(".")[0] in _PARSERS for n in names):
                return True
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in _PARSERS:
                return True
            case ast.Compare(left=ast.Name(id="__name__")):
                return True
    return False


def _program(command: Sequence[str]) -> str:
    program = shutil.which(command[0], path=search_path())
    if program is None:
        near = f"; write './{command[0]}'" if Path(command[0]).is_file() else ""
        raise ProgramError(f"there is no program {command[0]!r} on the PATH{near}")
    return program


def _help(command: Sequence[str]) -> tuple[str, int]:
    """What a command prints for `--help`, within bounds, and its exit code."""
    program = _program(command)
    wide = {"COLUMNS": "200", "TERMINAL_WIDTH": "200", "NO_COLOR": "1", "TERM": "dumb"}
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                [program, *command[1:], "--help"],
                env={**os.environ, **wide, "PATH": search_path()},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramError(f"cannot start {command[0]!r}: {error.strerror}") from None
        try:
            code = _wait(process, output.fileno(), command)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return output.read(_MOST_BYTES).decode(errors="replace"), code


def _wait(process: subprocess.Popen[bytes], output: int, command: Sequence[str]) -> int:
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            return process.wait(0.05)
        except subprocess.TimeoutExpired:
            asked = f"{shlex.join(command)} --help"
            if os.fstat(output).st_size > _MOST_BYTES:
                raise ProgramError(
                    f"{asked} prints without end; does the script know --help?"
                ) from None
            if time.monotonic() > deadline:
                raise ProgramError(
                    f"{asked} has not ended after {_SECONDS:g} s; does the script know --help?"
                ) from None


def _merged(asked: Mapping[str, Found], known: Mapping[str, Found]) -> dict[str, Found]:
    """What the help says, completed by the source; a default may be printed without its quotes."""
    return {
        flag: _completed(found, known[flag]) if flag in known else found
        for flag, found in asked.items()
    }


def _completed(found: Found, other: Found) -> Found:
    return found._replace(
        default=found.default if other.default is None else other.default,
        choices=other.choices or found.choices,
        required=other.required or found.required,
        switch=other.switch or found.switch,
        several=other.several or found.several,
        left=other.left,
    )


def _not_given(options: Mapping[str, Found], command: Sequence[str]) -> dict[str, Found]:
    """The options that the command does not set already."""
    given = {argument.split("=")[0] for argument in command}
    return {flag: found for flag, found in options.items() if flag not in given}


def _given_words(command: Sequence[str], options: Mapping[str, Found]) -> list[str]:
    """The arguments without a name that a command gives its script."""
    words = list(command)
    script = source_of(command) or variables.shell_script(command)
    named = [n for n, word in enumerate(words) if script is not None and Path(word) == script]
    module = words.index("-m") + 1 if "-m" in words[:-1] else 0
    free: list[str] = []
    value = False
    for word in words[next(iter(named), module) + 1 :]:
        if value:
            value = False
        elif word.startswith("-"):
            known = options.get(word)
            value = known is not None and not known.switch
        else:
            free.append(word)
    return free


def _style(options: Mapping[str, Found]) -> OverrideStyle:
    """Dashes or underscores within an option: the style that writes more of them right."""
    dashes = sum("-" in flag.lstrip("-") for flag in options)
    return "equals" if sum("_" in flag for flag in options) > dashes else "dashes"
