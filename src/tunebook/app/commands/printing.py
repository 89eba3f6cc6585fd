"""How commands print, and with which codes they end."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from tunebook.running.loop import Ending

DONE, MISTAKE, PAUSED, LOST, NO_RESULT, INTERRUPTED = 0, 1, 3, 4, 5, 130


def present(data: Any, render: Callable[[Any], Any], as_json: bool) -> None:
    """Print data as JSON, or the way that people read it."""
    if as_json:
        print_json(data)
    else:
        from tunebook.app import tables

        tables.console().print(render(data))


def print_json(data: Any) -> None:
    """Print data as one JSON value."""
    typer.echo(json.dumps(data, indent=2, allow_nan=False))


def note(text: str) -> None:
    """Tell someone who waits at a terminal what is going on."""
    if sys.stderr.isatty():
        typer.echo(text, err=True)


def word(ending: Ending) -> str:
    """How a run ended, in a word."""
    return "paused" if ending.paused else "interrupted" if ending.interrupted else "done"


def exit_code(ending: Ending) -> int:
    """The exit code that tells how a run ended."""
    return {"done": DONE, "paused": PAUSED, "interrupted": INTERRUPTED}[word(ending)]
