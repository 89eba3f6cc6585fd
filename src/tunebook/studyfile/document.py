"""YAML 1.2 text as plain values, with the line of every key and item.

Only what a study file needs: no tags, anchors or aliases, so that no file can build objects or grow
when it is read. Text such as `no` stays text, as YAML 1.2 has it; `1_000` is a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.reader import ReaderError

from tunebook.studyfile.problems import Path, Problem, Problems, shown
from tunebook.studyfile.scalars import read_scalar

LARGEST = 64 * 1024
DEEPEST = 50
MOST_VALUES = 10_000

_EMPTY = "the file is empty; begin with 'study: ' and a name"


@dataclass(frozen=True, slots=True)
class Document:
    """The mapping that a file holds."""

    content: dict[str, Any]
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """The line of a place, or of the nearest place around it."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def load(text: str) -> Document:
    """The document in a text; raises Problems.

    >>> load("a: 1e-3\\nb: [no, 0x10]\\n")
    Document(content={'a': 0.001, 'b': ['no', 16]}, lines={(): 1, ('a',): 1, ('b',): 2, \
('b', 0): 2, ('b', 1): 2})
    """
    size = len(text.encode(errors="surrogatepass"))
    if size > LARGEST:
        raise _problem(1, f"a study file may have {LARGEST} bytes, got {size}")
    events = _events(text.removeprefix("\ufeff"))
    next(events)
    start = next(events)
    if isinstance(start, StreamEndEvent):
        raise _problem(1, _EMPTY)
    if isinstance(start, DocumentStartEvent) and start.version not in (None, (1, 2)):
        raise _problem(_line(start), "study files are YAML 1.2; remove the %YAML line")
    root = next(events)
    lines: dict[Path, int] = {(): _line(root)}
    content = _value(root, events, (), lines)
    if content is None:
        raise _problem(1, _EMPTY)
    if not isinstance(content, dict):
        raise _problem(_line(root), f"a study file holds 'key: value' lines, got {shown(content)}")
    next(events)
    end = next(events)
    if not isinstance(end, StreamEndEvent):
        raise _problem(_line(end), "a file holds one study; put the next one into its own file")
    return Document(content, lines)


def _events(text: str) -> Iterator[Event]:
    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _problem(mark.line + 1 if mark else 1, _syntax(error)) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _problem(line, f"the character {chr(error.character)!r} is not allowed") from None
    except Exception as error:
        # The parser lets go of some malformed escapes and versions with bare Python errors.
        raise _problem(1, f"not valid YAML: a number in it is too large ({error})") from None


def _syntax(error: MarkedYAMLError) -> str:
    problem = str(error.problem or error.context)
    if "'\\t'" in problem:
        return "a tab cannot indent or begin a value in YAML; use spaces"
    if problem.startswith("mapping values are not allowed"):
        return "a ':' is not expected here; check the indentation, or put the text in quotes"
    context = f" {error.context}" if error.context and error.problem else ""
    return f"not valid YAML{context}: {problem}"


def _value(event: Event, events: Iterator[Event], path: Path, lines: dict[Path, int]) -> Any:
    _refuse_magic(event)
    if len(path) > DEEPEST:
        raise _problem(_line(event), f"nested deeper than {DEEPEST} levels")
    if len(lines) > MOST_VALUES:
        raise _problem(_line(event), f"a study file may have {MOST_VALUES} values")
    if isinstance(event, SequenceStartEvent):
        return _list(events, path, lines)
    if isinstance(event, MappingStartEvent):
        return _mapping(events, path, lines)
    return _scalar(cast(ScalarEvent, event))


def _list(events: Iterator[Event], path: Path, lines: dict[Path, int]) -> list[Any]:
    items: list[Any] = []
    for event in events:
        if isinstance(event, SequenceEndEvent):
            break
        place = (*path, len(items))
        lines[place] = _line(event)
        items.append(_value(event, events, place, lines))
    return items


def _mapping(events: Iterator[Event], path: Path, lines: dict[Path, int]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for event in events:
        if isinstance(event, MappingEndEvent):
            break
        key, line = _key(event), _line(event)
        place = (*path, key)
        if key in content:
            raise _problem(line, f"the key {key!r} was given before, on line {lines[place]}")
        lines[place] = line
        content[key] = _value(next(events), events, place, lines)
    return content


def _key(event: Event) -> str:
    _refuse_magic(event)
    if not isinstance(event, ScalarEvent):
        raise _problem(_line(event), "a key must be text, got a list or a mapping")
    key = _scalar(event)
    if not isinstance(key, str):
        raise _problem(_line(event), f"a key must be text, got {shown(key)}; put it in quotes")
    return key


def _refuse_magic(event: Event) -> None:
    if isinstance(event, NodeEvent) and event.anchor:
        raise _problem(_line(event), f"anchors and aliases are not read, got {event.anchor!r}")
    if isinstance(event, ScalarEvent | CollectionStartEvent) and event.tag:
        raise _problem(_line(event), f"tags are not read, got {event.tag!r}; quotes make text")


def _scalar(event: ScalarEvent) -> str | int | float | bool | None:
    try:
        return read_scalar(event.value, plain=event.implicit[0])
    except ValueError as error:
        raise _problem(_line(event), str(error)) from None


def _line(event: Event) -> int:
    return int(event.start_mark.line) + 1


def _problem(line: int, text: str) -> Problems:
    return Problems(Problem(line, text))
