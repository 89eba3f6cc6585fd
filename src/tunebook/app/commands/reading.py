"""`tunebook show`, `compare` and `book`: what the book holds."""

from __future__ import annotations

from typing import Annotated

import typer

from tunebook.app.commands.options import AsJson, Folder
from tunebook.app.commands.printing import present


def show(
    study: Annotated[
        str, typer.Argument(metavar="STUDY", help="A study of the book, or STUDY/TRIAL.")
    ],
    trial: Annotated[
        int | None, typer.Argument(metavar="TRIAL", help="The number of a trial.")
    ] = None,
    file: Annotated[bool, typer.Option("--file", help="Print the study as a study file.")] = False,
    output: Annotated[
        bool, typer.Option("--output", help="Print what the trial's program printed.")
    ] = False,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show a study, or one of its trials.

    Example: tunebook show depth 12
    """
    from tunebook.app import describe, places, start, tables, workflow

    if "/" in study and trial is None:
        study, trial = start.split_trial(study)
    results = workflow.results(study, places.book_folder(folder))
    if file:
        from tunebook import studyfile

        typer.echo(studyfile.write(results.study), nl=False)
    elif output and trial is not None:
        typer.echo(describe.printed(results[trial]) or "It has printed nothing.\n", nl=False)
    elif output:
        raise typer.BadParameter("--output needs the number of a trial")
    elif trial is None:
        present(describe.study(results), tables.study, as_json)
    else:
        present(describe.trial(results, results[trial]), tables.trial, as_json)


def compare(
    trials: Annotated[list[str], typer.Argument(metavar="STUDY/TRIAL", help="Two trials or more.")],
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show where trials differ, and what came of it.

    Example: tunebook compare depth/12 depth/7
    """
    from tunebook.app import describe, places, start, tables

    pairs = start.find_trials(trials, places.book_folder(folder))
    present(describe.comparison(pairs), tables.comparison, as_json)


def book(folder: Folder = None, as_json: AsJson = False) -> None:
    """The tracking sheet: each study and its best result.

    Example: tunebook book --json
    """
    from tunebook.app import describe, places, tables, workflow

    place = places.book_folder(folder)
    present(describe.sheet(workflow.book(place), place), tables.sheet, as_json)
