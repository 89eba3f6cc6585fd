"""`tunebook export`: a study for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunebook.app.commands.options import Folder
from tunebook.app.commands.printing import note


def export(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study of the book.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write; - prints [default: -].",
            metavar="FILE",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="csv, parquet or json [default: by the name of FILE; csv].",
            metavar="FORMAT",
        ),
    ] = None,
    what: Annotated[
        str,
        typer.Option(
            "--what", help="trials: a row each; or curves: every logged point.", metavar="WHAT"
        ),
    ] = "trials",
    raw: Annotated[
        bool,
        typer.Option(
            "--raw", help="CSV: keep text that a spreadsheet would run as a formula as it is."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    folder: Folder = None,
) -> None:
    """Write a study as CSV, Parquet or JSON, for other tools.

    Example: tunebook export depth -o curves.parquet --what curves
    """
    from tunebook.app import exporting, places, workflow
    from tunebook.exchange import formats

    path = None if output is None or str(output) == "-" else output
    chosen, part = formats.chosen(form, path), exporting.what_of(what)
    exporting.check(chosen, path, force=force, raw=raw)
    results = workflow.results(study, places.book_folder(folder))
    said = exporting.export(results, part, chosen, path, raw=raw, notice=note)
    if said:
        typer.echo(said)
