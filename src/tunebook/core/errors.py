"""What a user may be told: every error says what happened, with which value, and what to do.

TunebookError
├── StudyError        the study is not well formed
├── ProgramError      the training program cannot be loaded
├── StoreError        the store cannot be used
│   ├── StoreFull     its disk has no room: waiting helps
│   ├── StoreLocked   another process holds it: waiting helps
│   ├── StudyChanged  the study differs from the one in the store
│   └── StudyOwned    another process is running the study
└── UnknownName       a study, trial or metric that does not exist
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TunebookError(Exception):
    """A mistake a user can mend. The command line prints its text and no traceback."""


class StudyError(TunebookError):
    """The study is not well formed; `parameter` names the one at fault, where one is."""

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class ProgramError(TunebookError):
    """The training program cannot be loaded."""


class StoreError(TunebookError):
    """The store cannot be used."""


class StoreFull(StoreError):
    """The disk of the store has no room; it can be written again once there is some."""


class StoreLocked(StoreError):
    """Another process holds the store; it can be written again once that process lets go."""


class StudyChanged(StoreError):
    """The study differs from the one in the store; `difference` holds a line for each change."""

    def __init__(self, message: str, difference: tuple[str, ...]) -> None:
        super().__init__(message)
        self.difference = difference


class StudyOwned(StoreError):
    """Another living process, the `owner`, is running the study."""

    def __init__(self, message: str, owner: str = "another process") -> None:
        super().__init__(message)
        self.owner = owner


class UnknownName(TunebookError):
    """A study, trial or metric that does not exist."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A clause that offers the nearest known name, or nothing.

    >>> did_you_mean("learning_rte", ["learning_rate", "dropout"])
    "; did you mean 'learning_rate'?"
    >>> did_you_mean("x", ["learning_rate"])
    ''
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
