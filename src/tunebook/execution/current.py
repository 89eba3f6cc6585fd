"""The run of this process, for programs that ask for it: `tunebook.init()`, `tunebook.log()`."""

from __future__ import annotations

from tunebook.execution import joined
from tunebook.execution.joined import JoinedRun
from tunebook.execution.run import SpoolRun

_run: SpoolRun | None = None


def set_run(run: SpoolRun | None) -> None:
    global _run
    _run = run


def get_run() -> SpoolRun | JoinedRun | None:
    """The run that this process has begun, or the trial of a command that it belongs to."""
    return _run if _run is not None else joined.of_environment()
