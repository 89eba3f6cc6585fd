"""`tunebook init`: a first study file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    program: Annotated[
        list[str],
        typer.Argument(
            metavar="PROGRAM",
            help="A training function, FILE.py:FUNCTION; a script, FILE.py; or -- and a command.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write [default: STUDY.yaml].", metavar="FILE"
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--study", help="The study's name [default: that of the program].", metavar="NAME"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a commented study file for a training function or script.

    A function is read, not run. A script is asked for its options: it is run with --help.

    Example: tunebook init train.py:train

    Example: tunebook init -- python train.py --data images
    """
    from tunebook.app.beginning import write_study_file

    begun = write_study_file(program, output, name, force=force)
    if begun.form == "function":
        named = f"with the parameters and metrics that {begun.program} names"
    elif begun.form == "command":
        named = f"with the options of the command: {begun.program}"
    else:
        named = f"to be filled in, since this names no options: {begun.program}"
    typer.echo(f"Wrote {begun.path}, {named}.")
    for warning in begun.warnings:
        typer.echo(f"Note: {warning}", err=True)
    if begun.lacking:
        typer.echo(f"These have no value yet; write one into the file: {', '.join(begun.lacking)}")
    if not begun.metric:
        typer.echo("Its metrics were not found: fill in `metrics` and `objective`.")
    typer.echo(f"Read it, then: tunebook run {begun.path}")
