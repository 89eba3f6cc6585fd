"""`tunebook report`: what a study shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tunebook.app.commands.options import AsJson, Folder
from tunebook.app.commands.printing import note, print_json


def report(
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="A study [default: the latest].")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write one HTML file, with pictures.", metavar="FILE"),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write Markdown; - prints it.", metavar="FILE"),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", help="Write the pictures as SVG files here.", metavar="DIR"),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective",
            help="Judge trials anew: last, best, mean:5, or a metric such as valid/loss:lower.",
            metavar="WHAT",
        ),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", help="Another study, to set beside it.", metavar="STUDY"),
    ] = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """What a study shows: problems first, with what to do about them.

    It may still be running. Nothing is run again and nothing is written into the book.

    Example: tunebook report depth --html report.html
    """
    # Matrices are small here, and threads that spin for them beside a running study cost minutes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tunebook.app import places, reporting

    place = places.book_folder(folder)
    made = reporting.on_book(study, place, objective, compare, notice=note)
    prints = markdown is not None and str(markdown) == "-"
    said = reporting.write(made, html, None if prints else markdown, pictures)
    if as_json:
        from tunebook.report import machine

        print_json(machine.data(made))
    elif prints:
        from tunebook.report import markdown as documents

        typer.echo(documents.document(made, str(pictures) if pictures else None), nl=False)
    elif not said:
        from tunebook.app import tables
        from tunebook.report import terminal

        terminal.print_to(tables.console(), made, places.book_option(folder))
    for line in said:
        typer.echo(line, err=as_json or prints)
