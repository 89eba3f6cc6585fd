"""Rows of metrics in what a program writes: JSON lines, and patterns over its output."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tunebook.execution import readings

# Longer lines are cut: a program may print for hours without ending one.
LONGEST_LINE = 1 << 16
_READ_BYTES = 1 << 18
# A progress bar ends its lines by a carriage return.
_LINE_ENDS = re.compile(rb"[\r\n]+")
_STEPS = ("step", "global_step")


@dataclass(frozen=True, slots=True)
class Row:
    """Metrics at a step; None where the program counts none.

    `no_step` is what stands in the place of the step where that cannot be one, such as "-1". `at`
    is when it was written, in seconds since the epoch, where the program tells.
    """

    step: int | None
    metrics: Mapping[str, float]
    no_step: str = ""
    at: float | None = field(default=None, compare=False, repr=False)


class Lines:
    """Bytes as they come, cut into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, content: bytes) -> list[str]:
        """The lines that have ended, without the empty ones."""
        *ended, rest = _LINE_ENDS.split(content)
        if ended:
            ended[0] = self._rest + ended[0]
            self._rest = b""
        self._rest = (self._rest + rest)[:LONGEST_LINE]
        return [line[:LONGEST_LINE].decode(errors="replace") for line in ended if line]

    def end(self) -> list[str]:
        """The line that has no end, if there is one."""
        return self.feed(b"\n")


class Tail:
    """Reads what is added to a file from now on; one that is written anew is read anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = path.stat().st_size if path.is_file() else 0
        self._lines = Lines()

    def news(self, *, last: bool = False) -> Iterator[str]:
        """The lines that were added; the last time, also one without an end."""
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._offset:
                    self._offset, self._lines = 0, Lines()
                file.seek(self._offset)
                while content := file.read(_READ_BYTES):
                    self._offset += len(content)
                    yield from self._lines.feed(content)
        except OSError:
            # Not there yet, or no file.
            return
        if last:
            yield from self._lines.end()


def json_object(line: str) -> dict[str, Any] | None:
    """The JSON object in a line, if that is what the line is."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def json_row(content: Mapping[str, Any]) -> Row | None:
    """The numbers of a JSON object; `step` or `global_step` is their step.

    >>> json_row({"step": 3, "loss": 0.5, "phase": "train"})
    Row(step=3, metrics={'loss': 0.5}, no_step='')
    """
    key = next((key for key in _STEPS if key in content), None)
    metrics = {
        name: number
        for name, value in content.items()
        if name and name != key and not isinstance(value, bool)
        if (number := _number(value)) is not None
    }
    return _row(content[key] if key is not None else None, metrics) if metrics else None


def pattern_rows(pattern: re.Pattern[str], line: str) -> Iterator[Row]:
    """What a pattern finds in a line: groups named after metrics, or `name` and `value`.

    >>> pattern = re.compile(r"step (?P<step>\\d+): loss (?P<loss>\\S+)")
    >>> list(pattern_rows(pattern, "step 3: loss 0.5"))
    [Row(step=3, metrics={'loss': 0.5}, no_step='')]
    """
    for found in pattern.finditer(line):
        groups = found.groupdict()
        step = groups.pop("step", None)
        if {"name", "value"} <= groups.keys():
            groups[groups.pop("name") or ""] = groups.pop("value")
        metrics = {
            name: number
            for name, text in groups.items()
            if name and text is not None and (number := _number_in(text)) is not None
        }
        if metrics:
            # Text that is no number, such as "3/10", is no step: points are counted then.
            yield _row(_number_in(step) if step is not None else None, metrics)


def step_of(value: object) -> int | None:
    """A step as a number or as text; None where it is none."""
    try:
        return readings.whole_step(float(value) if isinstance(value, str) else value)
    except (ValueError, TypeError, OverflowError):
        return None


def _row(given: object, metrics: Mapping[str, float]) -> Row:
    step = step_of(given)
    # Were such a point counted instead, true steps after it might seem to go back.
    return Row(step, metrics, "" if given is None or step is not None else readings.shown(given))


def _number(value: object) -> float | None:
    return readings.number(value) if isinstance(value, int | float) else None


def _number_in(text: str) -> float | None:
    try:
        return float(text.rstrip(",;"))
    except ValueError:
        return None
