"""Bundled tasks, real and small: `mnist1d`, `fashion_mnist`, `digits` and `characters`.

Each is imported when it is first asked for. A task's module has another name than the task, since
an imported submodule would take the task's place.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tunebook.training.tasks.clothes import fashion_mnist as fashion_mnist
    from tunebook.training.tasks.handwriting import digits as digits
    from tunebook.training.tasks.signals import mnist1d as mnist1d
    from tunebook.training.tasks.text import characters as characters

_HOMES = {
    "characters": "tunebook.training.tasks.text",
    "digits": "tunebook.training.tasks.handwriting",
    "fashion_mnist": "tunebook.training.tasks.clothes",
    "mnist1d": "tunebook.training.tasks.signals",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
