"""The nouns as JSON and back, with a version, so that an old book can always be read."""

from __future__ import annotations

import dataclasses
import json
from enum import Enum
from typing import Any

from tunebook.core import commands, domains, knobs, objective, space, study, trials
from tunebook.core.errors import StoreError

VERSION = 1
_TAG = ""
_NESTED = (dict, list)

_CLASSES: dict[str, type] = {
    known.__name__: known
    for known in (
        domains.Float,
        domains.Int,
        domains.Choice,
        space.Role,
        space.Fixed,
        space.Derived,
        space.When,
        space.Parameter,
        space.Setting,
        space.Space,
        objective.Metric,
        objective.Constraint,
        objective.Objective,
        knobs.Knobs,
        commands.Command,
        study.Budget,
        study.Resources,
        study.Divergence,
        study.Sampling,
        study.MoreTrials,
        study.Asked,
        study.Study,
        trials.Cause,
        trials.OutcomeKind,
        trials.Outcome,
        trials.FromSequence,
        trials.Adaptive,
        trials.Listed,
        trials.Imported,
        trials.Replicate,
        trials.Code,
        trials.Trial,
        trials.Attempt,
    )
}


def dumps(value: object) -> str:
    """A noun as text. Every field is written: a later default never changes an old value."""
    document = {"tunebook": VERSION, "value": _encode(value)}
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def loads(text: str) -> Any:
    """The noun that `dumps` wrote.

    >>> loads(dumps(trials.Code(commit="abc")))
    Code(commit='abc', difference=None, source=None)
    """
    try:
        document = json.loads(text)
        version = document["tunebook"]
        content = document["value"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StoreError(f"not a value of tunebook: {text[:60]!r}") from None
    if not isinstance(version, int):
        raise StoreError(f"not a value of tunebook: its format is {version!r}")
    if version > VERSION:
        raise StoreError(
            f"written by a newer tunebook (format {version}, this one reads {VERSION}); upgrade"
        )
    return _decode(content)


def _encode(value: object) -> object:
    if isinstance(value, Enum):
        return {_TAG: type(value).__name__, "value": value.value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        content = {f.name: _encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {_TAG: type(value).__name__, **content}
    if isinstance(value, dict):
        return {name: _encode(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(item) for item in value]
    return value


def _decode(content: Any) -> Any:
    # Most of a value is numbers and text, which stay as they are.
    if isinstance(content, list):
        return tuple(_decode(x) if x.__class__ in _NESTED else x for x in content)
    if not isinstance(content, dict):
        return content
    fields = {n: _decode(x) if x.__class__ in _NESTED else x for n, x in content.items()}
    if _TAG not in fields:
        return fields
    del fields[_TAG]
    tag = content[_TAG]
    known = _CLASSES.get(str(tag))
    if known is None:
        raise StoreError(f"unknown kind of value {tag!r} in the store; upgrade tunebook")
    try:
        return known(**fields)
    except (TypeError, ValueError) as error:
        raise StoreError(f"cannot read a stored {tag}: {error}") from None
