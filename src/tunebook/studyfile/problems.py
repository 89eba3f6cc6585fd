"""Mistakes in a study file, each with its line, told together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tunebook.core.errors import StudyError

Path: TypeAlias = tuple[str | int, ...]

MOST_TOLD = 10
_LONGEST = 300


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake; lines count from 1."""

    line: int
    text: str


class Problems(Exception):
    """What is wrong with a file whose name is not known yet: `error` turns it into a StudyError."""

    def __init__(self, *found: Problem) -> None:
        super().__init__(*found)
        self.found = found

    def error(self, source: str) -> StudyError:
        """The first ten problems in the order of their lines, one a line."""
        ordered = sorted(set(self.found))
        lines = [one_line(f"{source}:{p.line}: {p.text}") for p in ordered[:MOST_TOLD]]
        left = len(ordered) - MOST_TOLD
        if left > 0:
            lines.append(f"and {left} more problem{'s' if left > 1 else ''}")
        return StudyError("\n".join(lines))


def spelled(path: Path) -> str:
    """A place in the file, as one would say it.

    >>> spelled(("objective", "constraints", 0, "at_most"))
    'objective.constraints[0].at_most'
    """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def shown(value: object) -> str:
    """A value in few characters, as the file would have it.

    >>> shown(None), shown(True), shown("x" * 100)
    ('null', 'true', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'")
    """
    text = "null" if value is None else repr(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= 42 else f"{text[:38]}...{text[-1]}"


def one_line(text: str) -> str:
    """Text that cannot break the line, move the cursor or fill the screen."""
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: 2 * _LONGEST])
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."
