"""Tables as CSV: UTF-8, a header, commas, lines that end with a line feed.

A spreadsheet takes text that begins with `=` for a formula and runs it, whoever wrote that text.
So such text gets an apostrophe in front, which spreadsheets hide; numbers never do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tunebook.core.results import Results
from tunebook.exchange.tables import POINT_COLUMNS, Piece, What, pieces, trials

# What a spreadsheet may run, full-width signs included. Apostrophes in front are counted in, so
# that taking one away gives the text back whatever it was.
_RUN = re.compile(r"'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])")  # noqa: RUF001
_QUOTED = re.compile(r'[",\r\n]|\A\s|\s\Z|\A\Z')


def lines(results: Results, what: What, *, raw: bool = False) -> Iterator[bytes]:
    """The file in pieces; with `raw`, text is written as it is."""
    if what == "trials":
        table = trials(results)
        yield _line(table.columns, raw)
        yield from (_line(row, raw) for row in table.rows)
    else:
        yield _line(POINT_COLUMNS, raw)
        yield from (_points(piece, raw) for piece in pieces(results))


def harmless(text: str) -> str:
    """Text that no spreadsheet runs.

    >>> harmless("=1+1"), harmless("relu"), harmless("'=1+1")
    ("'=1+1", 'relu', "''=1+1")
    """
    return f"'{text}" if _RUN.match(text) else text


def original(text: str) -> str:
    """The text that `harmless` was given.

    >>> original("'=1+1"), original("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _RUN.match(text) else text


def _cell(value: Any, raw: bool) -> str:
    """One cell: None is empty, empty text is `""`, a number reads back exactly."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    text = value if raw else harmless(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _line(cells: Sequence[Any], raw: bool) -> bytes:
    return _bytes(",".join(_cell(value, raw) for value in cells) + "\n")


def _points(piece: Piece, raw: bool) -> bytes:
    begin = f"{piece.trial},{_cell(piece.metric, raw)}"
    columns = (piece.steps.tolist(), piece.values.tolist(), piece.seconds.tolist())
    return _bytes("".join(f"{begin},{s},{v!r},{t!r}\n" for s, v, t in zip(*columns, strict=True)))


def _bytes(text: str) -> bytes:
    # Half a character has no UTF-8; it is better shown than lost with the file.
    return text.encode("utf-8", "backslashreplace")
