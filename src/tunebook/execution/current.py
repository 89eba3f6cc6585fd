"""The run of this process, for programs that ask for it: `tunebook.init()`, `tunebook.log()`."""

from __future__ import annotations

from tunebook.execution.run import SpoolRun

_run: SpoolRun | None = None


def set_run(run: SpoolRun | None) -> None:
    global _run
    _run = run


def get_run() -> SpoolRun | None:
    return _run
