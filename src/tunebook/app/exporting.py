"""Results of the book into files for other tools, or onto standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from tunebook.core.errors import StudyError, UnknownName, did_you_mean
from tunebook.core.representation import counted
from tunebook.core.results import Results
from tunebook.exchange import formats, parquet, tables
from tunebook.files import atomic

# From so many points on, writing takes more than a moment.
_MANY = 1_000_000


def what_of(name: str) -> tables.What:
    """What is to be written: trials or curves."""
    if name == "trials":
        return "trials"
    if name == "curves":
        return "curves"
    near = did_you_mean(name, ("trials", "curves")) or "; choose trials or curves"
    raise UnknownName(f"cannot export {name!r}{near}")


def check(form: str, output: Path | None, *, force: bool, raw: bool = False) -> None:
    """Refuse what cannot work before anything is read."""
    if raw and form != "csv":
        raise StudyError(f"--raw is for CSV; {form} keeps text as it is, so leave it out")
    if form == "parquet":
        parquet.require()
        if output is None and sys.stdout.isatty():
            raise StudyError(
                "Parquet is no text for a terminal; write it to a file: --output FILE.parquet"
            )
    if output is not None and output.is_dir():
        raise StudyError(f"{output} is a folder; name a file in it")
    if output is not None and not (parent := Path(os.path.realpath(output)).parent).is_dir():
        raise StudyError(f"there is no folder {parent}; make it first, or choose another FILE")
    if output is not None and output.is_file() and not force:
        raise StudyError(f"{output} exists; choose another with --output, or replace it by --force")


def export(
    results: Results,
    what: tables.What,
    form: str,
    output: Path | None,
    *,
    raw: bool = False,
    notice: Callable[[str], None] = lambda _: None,
) -> str | None:
    """Write results, to standard output without a path; a sentence on the file that was written."""
    points = tables.count(results)
    if points >= _MANY:
        notice(f"Writing {counted(len(results), 'trial')} with {points:,} points.")
    try:
        with _opened(output) as file:
            formats.write(results, what, form, file, raw=raw)
            file.flush()
    except OSError as error:
        # A reader of standard output that leaves is the command line's to deal with.
        if output is None:
            raise
        raise StudyError(f"cannot write {output}: {error.strerror or error}") from None
    if output is None:
        return None
    written = counted(len(results), "trial") if what == "trials" else counted(points, "point")
    size = f" ({output.stat().st_size / 1000:,.1f} kB)" if output.is_file() else ""
    return f"Wrote {output}: {written}{size}."


def _opened(output: Path | None) -> AbstractContextManager[BinaryIO]:
    if output is None:
        return nullcontext(sys.stdout.buffer)
    if output.exists() and not output.is_file():  # a pipe or a device stays what it is
        return output.open("wb")
    # Through a link, to the file that it names; who may read it is the user's umask to say.
    target = Path(os.path.realpath(output))
    return atomic.new_file(target, mode=0o666)
