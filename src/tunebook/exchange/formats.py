"""The formats that results are written in, by name and by a file's suffix."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from tunebook.core.errors import UnknownName, did_you_mean
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
    if name is not None:
        if name.lower() in FORMATS:
            return name.lower()
        near = did_you_mean(name, FORMATS)
        raise UnknownName(f"there is no format {name!r}{near or f'; choose {_LISTED}'}")
    if path is None:
        return "csv"
    for known, suffixes in FORMATS.items():
        if path.suffix.lower() in suffixes:
            return known
    raise UnknownName(f"the name {str(path)!r} tells no format; add --format {_LISTED}")


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
