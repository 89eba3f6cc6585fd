"""Tables as Parquet files, with types and with the study as data.

A column of parameters has the narrowest type that keeps every value as it is: whole numbers, real
numbers, truth values, or text; kinds that do not go together are written as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tunebook.core import codec
from tunebook.core.errors import StudyError
from tunebook.core.results import Results
from tunebook.exchange.tables import Piece, Table, What, pieces, trials

if TYPE_CHECKING:
    import pyarrow

# The key in the file's metadata under which the study stands, as `tunebook.core.codec` writes it.
STUDY = "tunebook.study"
_ROWS = 1 << 20
_REAL = ("value", "seconds")
_WHOLE = ("trial", "step", "attempts", "seed")
_LARGEST = 1 << 63


def write(results: Results, what: What, file: BinaryIO) -> None:
    """Write a file; the points of curves go there in row groups, never all at once."""
    require()
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    study = {STUDY: codec.dumps(results.study)}
    if what == "trials":
        table = _arrow(trials(results)).replace_schema_metadata(study)
        with ParquetWriter(file, table.schema) as writer:
            writer.write_table(table)
        return
    schema = pyarrow.schema(
        [
            ("trial", pyarrow.int64()),
            ("metric", pyarrow.string()),
            ("step", pyarrow.int64()),
            ("value", pyarrow.float64()),
            ("seconds", pyarrow.float64()),
        ],
        metadata=study,
    )
    with ParquetWriter(file, schema) as writer:
        for group in _groups(results):
            writer.write_table(_points(group, schema), row_group_size=_ROWS)


def require() -> None:
    """Say what is missing before anything is begun."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise StudyError(
            "writing Parquet needs pyarrow: pip install 'tunebook[parquet]', or choose "
            "--format csv or json"
        ) from None


def kind(name: str, values: Sequence[Any]) -> str:
    """The type of a column: `int64`, `float64`, `bool` or `string`.

    >>> kind("params.x", [1, 2.5, None]), kind("params.x", [1, "a"]), kind("params.x", [2**70])
    ('float64', 'string', 'string')
    """
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if not present:
        return "float64" if name in _REAL else "int64" if name in _WHOLE else "string"
    if kinds == {bool}:
        return "bool"
    if kinds == {int} and all(-_LARGEST <= value < _LARGEST for value in present):
        return "int64"
    if kinds <= {int, float} and float in kinds and all(_fits(value) for value in present):
        return "float64"
    return "string"


def _fits(value: float) -> bool:
    """Whether a real number of 64 bits is the same."""
    return isinstance(value, float) or abs(value) <= 1 << 53


def _arrow(table: Table) -> pyarrow.Table:
    import pyarrow

    types = {
        "int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "bool": pyarrow.bool_(),
        "string": pyarrow.string(),
    }
    columns = {}
    for index, name in enumerate(table.columns):
        values = [row[index] for row in table.rows]
        chosen = kind(name, values)
        if chosen == "string":
            values = [None if value is None else _text(value) for value in values]
        columns[_text(name)] = pyarrow.array(values, types[chosen])
    return pyarrow.table(columns)


def _groups(results: Results) -> Iterator[list[Piece]]:
    """Pieces, so many at a time that they make a row group."""
    group: list[Piece] = []
    rows = 0
    for piece in pieces(results):
        group.append(piece)
        rows += len(piece.steps)
        if rows >= _ROWS:
            yield group
            group, rows = [], 0
    if group:
        yield group


def _points(group: Sequence[Piece], schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow

    lengths = [len(piece.steps) for piece in group]
    names = pyarrow.array([_text(piece.metric) for piece in group], pyarrow.string())
    columns = [
        pyarrow.array(np.repeat([piece.trial for piece in group], lengths)),
        names.take(pyarrow.array(np.repeat(np.arange(len(group)), lengths))),
        pyarrow.array(np.concatenate([piece.steps for piece in group])),
        pyarrow.array(np.concatenate([piece.values for piece in group])),
        pyarrow.array(np.concatenate([piece.seconds for piece in group])),
    ]
    return pyarrow.Table.from_arrays(columns, schema=schema)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    # Half a character has no UTF-8.
    return text.encode("utf-8", "backslashreplace").decode()
