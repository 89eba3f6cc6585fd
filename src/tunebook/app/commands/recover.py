"""`tunebook recover`: a new book from what is left of a damaged one."""

from __future__ import annotations

from typing import Annotated

import typer

from tunebook.app.commands.options import AsJson, Folder
from tunebook.app.commands.printing import DONE, LOST, print_json


def recover(
    only_check: Annotated[
        bool, typer.Option("--check", help="Only look whether the book is whole.")
    ] = False,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Make a new book from what is left of a damaged one.

    All that can be read of it, and the files of its attempts, which have every result too. The
    damaged book is kept under another name. Nothing is changed where the book is whole.

    Ends with code 4 if something was lost, or if --check finds the book damaged. Lost files beside
    a whole book are named, and are no damage.

    Example: tunebook recover --check
    """
    from tunebook.app import places, recovering
    from tunebook.app.text import lines

    place = places.book_folder(folder)
    found = recovering.check(place) if only_check else recovering.recover(place)
    if as_json:
        print_json(recovering.data(found))
    else:
        typer.echo(lines(recovering.text(found)))
    raise typer.Exit(DONE if found.is_whole else LOST)
