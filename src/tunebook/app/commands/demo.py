"""`tunebook demo`: the whole playbook on a small problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunebook.app.commands.options import Quiet
from tunebook.app.commands.printing import exit_code


def demo(
    folder: Annotated[
        Path, typer.Option("--dir", help="Where to put the demo's files.", metavar="DIR")
    ] = Path("tunebook-demo"),
    trials: Annotated[
        int, typer.Option("--trials", help="Trials for each of the two settings.", metavar="N")
    ] = 15,
    quiet: Quiet = False,
) -> None:
    """Tune a real network on a small problem, in one or two minutes.

    Example: tunebook demo --trials 5
    """
    from tunebook.app.demo import run_demo

    raise typer.Exit(exit_code(run_demo(folder, trials, quiet=quiet)))
