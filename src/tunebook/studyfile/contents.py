"""The kinds of content in a study file, for the models in `shape`.

Core decides what a value may be; a type here says so where pydantic asks, and names itself to an
editor.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
)

from tunebook.core.domains import check_value
from tunebook.core.errors import StudyError
from tunebook.core.study import MOST_TRIALS
from tunebook.studyfile.problems import shown

# Tags stand in the path of a pydantic error; their brackets keep them apart from keys.
LIST, PLAIN, MAPPING = "<list>", "<plain>", "<mapping>"

_UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_MEMORY = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?) ?([KMGT])i?B\Z")


def list_or_plain(content: Any) -> str:
    """The tag of what is a list of values or one value."""
    return LIST if isinstance(content, list) else PLAIN


def mapping_or_plain(content: Any) -> str:
    """The tag of what is a mapping or one value."""
    return MAPPING if isinstance(content, dict) else PLAIN


def _value(value: Any) -> Any:
    try:
        check_value(value)
    except StudyError as error:
        raise ValueError(str(error)) from None
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, got {shown(value)}")
    return _value(value)


def whole(value: Any) -> Any:
    """A number such as 1e5, written as a float, as the whole number that it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def memory_bytes(value: Any) -> int:
    """Bytes from a number of them, or from text such as 4GB."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = _MEMORY.match(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"expected a size such as 4GB or a number of bytes, got {shown(value)}")
    return int(float(found[1]) * _UNITS[f"{found[2]}B"])


def memory_text(amount: int) -> str | int:
    """Bytes as a person would write them, where that is exact.

    >>> memory_text(4 * 2**30), memory_text(2**20 + 1)
    ('4GB', 1048577)
    """
    for unit, size in reversed(_UNITS.items()):
        if amount >= size and amount % size == 0:
            return f"{amount // size}{unit}"
    return amount


Value: TypeAlias = Annotated[
    Any,
    PlainValidator(_value),
    WithJsonSchema({"type": ["number", "string", "boolean", "null"]}),
]
Number: TypeAlias = Annotated[float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Whole: TypeAlias = Annotated[int, BeforeValidator(whole)]
Trials: TypeAlias = Annotated[int, Field(ge=1, le=MOST_TRIALS), BeforeValidator(whole)]
Memory: TypeAlias = Annotated[
    int,
    PlainValidator(memory_bytes),
    WithJsonSchema({"type": ["integer", "string"], "pattern": r"^[0-9.]+ ?[KMGT]i?B$"}),
]
Bounds: TypeAlias = Annotated[list[Number], Field(min_length=2, max_length=2)]
Values: TypeAlias = dict[str, Value]
Texts: TypeAlias = Annotated[
    Annotated[list[str], Tag(LIST)] | Annotated[str, Tag(PLAIN)], Discriminator(list_or_plain)
]
When: TypeAlias = dict[
    str,
    Annotated[
        Annotated[list[Value], Tag(LIST)] | Annotated[Value, Tag(PLAIN)],
        Discriminator(list_or_plain),
    ],
]
