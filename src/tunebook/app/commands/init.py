"""`tunebook init`: a first study file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    program: Annotated[
        str,
        typer.Argument(metavar="PROGRAM", help="A training function: FILE.py:FUNCTION."),
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
    """Write a commented study file for a training function.

    Example: tunebook init train.py:train
    """
    from tunebook.app.start import write_study_file

    path, lacking = write_study_file(program, output, name, force=force)
    typer.echo(f"Wrote {path}, with the parameters and metrics that {program} names.")
    if lacking:
        typer.echo(f"These have no value yet; write one into the file: {', '.join(lacking)}")
    typer.echo(f"Read it, then: tunebook run {path}")
