"""The formats that results are written in, by name and by a file's suffix."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from tunebook.core.errors import StudyError, UnknownName, did_you_mean
from tunebook.core.results import Results
from tunebook.exchange import comma_separated, documents, parquet
from tunebook.exchange.tables import What

FORMATS = {"csv": (".csv",), "parquet": (".parquet", ".pq"), "json": (".json",)}
_LISTED = "csv, parquet or json"


def chosen(name: str | None, path: Path | None) -> str:
    """The format that was asked for, or that a file's suffix names, or CSV.

    >>> chosen(None, Path("trials.parquet")), chosen("json", Path("trials.txt")), chosen(None, None)
    ('parquet', 'json', 'csv')
    """
    told = _of_suffix(path)
    if name is not None:
        if name.lower() in FORMATS:
            if told not in (None, name.lower()):
                raise StudyError(
                    f"the name {str(path)!r} tells {told}, and --format {name.lower()}; leave out "
                    "--format, or name the file otherwise"
                )
            return name.lower()
        near = did_you_mean(name, FORMATS)
        raise UnknownName(f"there is no format {name!r}{near or f'; choose {_LISTED}'}")
    # A pipe or a device is no file whose name could tell.
    if path is None or (path.exists() and not path.is_file()):
        return told or "csv"
    if told is not None:
        return told
    raise UnknownName(f"the name {str(path)!r} tells no format; add --format {_LISTED}")


def _of_suffix(path: Path | None) -> str | None:
    suffix = path.suffix.lower() if path is not None else ""
    return next((known for known, suffixes in FORMATS.items() if suffix in suffixes), None)


def write(results: Results, what: What, form: str, file: BinaryIO, *, raw: bool = False) -> None:
    """Write results to an open file; `raw` concerns CSV, where text may be made harmless."""
    if form == "parquet":
        parquet.write(results, what, file)
        return
    csv = form == "csv"
    content = (
        comma_separated.lines(results, what, raw=raw) if csv else documents.lines(results, what)
    )
    for piece in content:
        file.write(piece)
