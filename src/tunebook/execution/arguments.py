"""The argument list of a trial: placeholders filled in, and the other parameters in a style.

Values are written so that they read back exactly: floats by `repr`, true, false, null.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

from tunebook.core.commands import OVERRIDES, Command, names, parts, variable_of
from tunebook.core.domains import Value
from tunebook.core.errors import ProgramError
from tunebook.core.space import Config

# What Hydra reads as text without quotes; it takes `null`, `true` or `1e3` for something else.
_PLAIN_IN_HYDRA = re.compile(r"(?!(?:null|true|false|nan|inf)\Z)[a-z_][a-z0-9_]*\Z", re.IGNORECASE)


def expand(
    command: Command, config: Config, places: Mapping[str, str], params_file: str
) -> list[str]:
    """The arguments of a trial.

    `places` are the placeholders that are no parameters. An argument that names a parameter which
    the trial does not have is left out.

    >>> command = Command(("train", "--lr={lr}", "{overrides}"))
    >>> expand(command, {"lr": 1e-3, "drop_out": True}, {}, "")
    ['train', '--lr=0.001', '--drop-out', 'true']
    """
    known = {**places, **{name: text(value) for name, value in config.items()}}
    arguments: list[str] = []
    for argument in command.arguments:
        if argument == f"{{{OVERRIDES}}}" and OVERRIDES not in config:
            arguments += _overrides(command, config, params_file)
        elif known.keys() >= set(names(argument)):
            arguments.append(fill(argument, known))
    for argument in arguments:
        _check(argument)
    return arguments


def fill(template: str, known: Mapping[str, str]) -> str:
    """A text with its placeholders replaced."""
    return "".join(part if isinstance(part, str) else known[part.name] for part in parts(template))


def variables(command: Command, config: Config, params_file: str) -> dict[str, str]:
    """The environment variables that tell a program its parameters."""
    if command.overrides == "json":
        return {"TUNEBOOK_PARAMS": params_file}
    if command.overrides != "environment":
        return {}
    found = {variable_of(name): text(config[name]) for name in command.passed(config)}
    for value in found.values():
        _check(value)
    return found


def params_json(command: Command, config: Config) -> str:
    """The content of the file of parameters: those that no argument names."""
    return json.dumps({name: config[name] for name in command.passed(config)}, indent=2) + "\n"


def text(value: Value) -> str:
    """A value as an argument.

    >>> [text(value) for value in (1e-5, 3, True, None, "it's")]
    ['1e-05', '3', 'true', 'null', "it's"]
    """
    if isinstance(value, str):
        return value
    return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)


def in_hydra(value: Value) -> str:
    """A value by Hydra's grammar of overrides; text that could be anything else is quoted.

    >>> [in_hydra(value) for value in (1e-5, "adam", "null", "it's", "${x}")]
    ['1e-05', 'adam', "'null'", "'it\\\\'s'", "'\\\\${x}'"]
    """
    if not isinstance(value, str):
        return text(value)
    if _PLAIN_IN_HYDRA.match(value):
        return value
    # First what OmegaConf would take for an interpolation, then what would end the quotes.
    plain = re.sub(r"(\\*)\$\{", lambda found: f"{found[1] * 2}\\${{", value)
    quoted = re.sub(r"(\\*)('|\Z)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), plain)
    return f"'{quoted}'"


def _overrides(command: Command, config: Config, params_file: str) -> Iterator[str]:
    if command.overrides == "json":
        yield params_file
        return
    for name in command.passed(config):
        value = config[name]
        match command.overrides:
            case "hydra":
                yield f"{name}={in_hydra(value)}"
            case "equals":
                yield f"--{name}={text(value)}"
            case "dashes":
                option = f"--{name.replace('_', '-')}"
                # On its own, a value with a dash in front would be taken for an option.
                joined = text(value).startswith("-")
                yield from ([f"{option}={text(value)}"] if joined else [option, text(value)])


def _check(argument: str) -> None:
    try:
        fine = b"\0" not in os.fsencode(argument)
    except UnicodeEncodeError:
        fine = False
    if not fine:
        raise ProgramError(
            f"{argument!r:.100} cannot be passed to a program, as it holds a NUL or half a "
            "character; let it read its parameters from a file: overrides: json"
        )
