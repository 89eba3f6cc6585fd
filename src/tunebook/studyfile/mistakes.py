"""What pydantic found, in plain words."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from tunebook.core.errors import did_you_mean
from tunebook.studyfile.document import Document
from tunebook.studyfile.problems import Path, Problem, Problems, shown, spelled
from tunebook.studyfile.shape import RANGE, keys_at

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping, 'key: value'",
    "model_type": "a mapping, 'key: value'",
}
_EXAMPLES = {
    "study": "'study: depth'",
    "objective": "'objective: {metric: valid/error, better: lower}'",
    "metric": "'metric: valid/error'",
    "better": "'better: lower' or 'better: higher'",
}


def explained(error: ValidationError, document: Document) -> Problems:
    """A problem for each error, at the line of its key."""
    return Problems(*(_problem(found, document) for found in error.errors(include_url=False)))


def _problem(found: Any, document: Document) -> Problem:
    path = _without_tags(found["loc"])
    if found["type"] in ("extra_forbidden", "missing"):
        place, text = path[:-1], _about_key(found)
    else:
        place, text = path, _about_content(found)
    prefix = f"{spelled(place)}: " if place else ""
    return Problem(document.line(path), f"{prefix}{text}")


def _without_tags(path: Path) -> Path:
    return tuple(part for part in path if not (isinstance(part, str) and part.startswith("<")))


def _about_key(found: Any) -> str:
    *place, key = found["loc"]
    if found["type"] == "missing":
        example = f"; write {_EXAMPLES[key]}" if key in _EXAMPLES else ""
        return f"the key {key!r} is missing{example}"
    known = keys_at(tuple(place))
    hint = did_you_mean(str(key), known) or f"; the keys here are {', '.join(known)}"
    return f"unknown key {shown(key)}{hint}"


def _about_content(found: Any) -> str:
    kind, content, context = found["type"], found["input"], found.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "model_type" and found["loc"][-1] == RANGE:
        return (
            "expected a list of values, {linear: [low, high]} or {log: [low, high]}, "
            f"got {shown(content)}; one value alone belongs under fixed"
        )
    if kind == "literal_error":
        hint = did_you_mean(str(content), context["expected"].split("'")[1::2])
        return f"expected {context['expected']}, got {shown(content)}{hint}"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, got {shown(content)}"
    if kind in ("too_short", "too_long"):
        return f"expected [low, high], got {shown(content)}"
    message = found["msg"].removeprefix("Input should be ")
    return f"expected a number {message}, got {shown(content)}"
