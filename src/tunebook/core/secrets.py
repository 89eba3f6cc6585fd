"""A study that holds a secret is refused where it enters; one that is in a book is always read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from tunebook.core.commands import Command, names
from tunebook.core.domains import Choice, Value
from tunebook.core.errors import StudyError
from tunebook.core.masking import is_secret, mask_arguments
from tunebook.core.space import Fixed, Parameter
from tunebook.core.study import Study

# Where it stands in a study file.
Place: TypeAlias = tuple[str | int, ...]

NO_SECRETS = (
    "this looks like a secret, and a study is written into the book and shown in reports; let the "
    "program read it from its environment"
)


def check_secrets(study: Study) -> None:
    """Refuse a study that holds a secret."""
    for place, text in secrets_in(study):
        raise StudyError(f"{'.'.join(map(str, place))}: {text}")


def secrets_in(study: Study) -> Iterator[tuple[Place, str]]:
    """Each secret of a study: its place, and a sentence that does not show it."""
    for parameter in study.space:
        if any(_is_secret(parameter.name, value) for value in _values(parameter)):
            yield (parameter.role.value, parameter.name), NO_SECRETS
    for name, value in study.baseline:
        if _is_secret(name, value):
            yield ("baseline", name), NO_SECRETS
    for index, config in enumerate(study.sampling.configs):
        for name, value in config:
            if _is_secret(name, value):
                yield ("sampling", "configs", index, name), NO_SECRETS
    if study.command is not None:
        yield from _in_command(study.command)


def _in_command(command: Command) -> Iterator[tuple[Place, str]]:
    masked = mask_arguments(command.arguments)
    for index, argument in enumerate(command.arguments):
        # What a parameter holds is looked at where the parameter stands.
        if masked[index] != argument and not tuple(names(argument)):
            yield ("command", index), f"{masked[index]!r}: {NO_SECRETS}"


def _values(parameter: Parameter) -> tuple[Value, ...]:
    match parameter.source:
        case Choice(values):
            return values
        case Fixed(value):
            return (value,)
    return ()


def _is_secret(name: str, value: Value) -> bool:
    """Numbers and switches are none, whatever their name."""
    return isinstance(value, str) and is_secret(name, value)
