"""One parameter of a configuration with its type; missing or null, it has its default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from tunebook.core.domains import Value
from tunebook.core.space import Config
from tunebook.training import checks
from tunebook.training.checks import Check

Name = TypeVar("Name", bound=str)

_SIZE = checks.whole(least=1)
_TEXT = Check("a text", lambda value: value if isinstance(value, str) else None)


def size(params: Config, name: str, default: int) -> int:
    """A whole number of at least 1.

    >>> size({"width": 64.0}, "width", 24), size({}, "width", 24)
    (64, 24)
    """
    return int(_read(params, name, default, _SIZE))


def rate(params: Config, name: str, default: float = 0.0) -> float:
    """A number from 0 up to 1, without 1."""
    return float(_read(params, name, default, checks.BELOW_1))


def switch(params: Config, name: str, default: bool) -> bool:
    """True or false; nothing else counts as either."""
    return bool(_read(params, name, default, checks.SWITCH))


def one_of(params: Config, name: str, default: Name, allowed: Sequence[Name]) -> Name:
    """One of a few names."""
    found: Name = _read(params, name, default, checks.one_of(allowed))
    return found


def text(params: Config, name: str) -> str | None:
    """A text, or None where there is none."""
    found: str | None = _read(params, name, None, _TEXT)
    return found


def _read(params: Config, name: str, default: Value, check: Check) -> Any:
    value = params.get(name)
    return default if value is None else check(name, value)
