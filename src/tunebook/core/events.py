"""What executors tell: facts about attempts, in the order in which they happened."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from tunebook.core.curves import Block
from tunebook.core.trials import Attempt, Outcome


@dataclass(frozen=True, slots=True)
class Started:
    """An attempt's process is running."""

    attempt: Attempt
    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class Logged:
    """Points, read from the attempt's spool up to the byte `offset`."""

    attempt: Attempt
    blocks: tuple[Block, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The attempt continues a checkpoint that another attempt of its trial wrote at `step`."""

    attempt: Attempt
    source: int
    step: int


@dataclass(frozen=True, slots=True)
class Noted:
    """Something the user should know about an attempt that goes on."""

    attempt: Attempt
    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The attempt has ended."""

    attempt: Attempt
    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class Tick:
    """Nothing in particular: time passes, and `running` attempts are alive."""

    running: int


Event: TypeAlias = Started | Logged | Resumed | Noted | Finished | Tick


@dataclass(frozen=True, slots=True)
class Wait:
    """No attempt can be proposed now; ask again later."""


class Decision(Enum):
    """What is to be done after an event."""

    GO_ON = "go on"
    STOP = "stop this attempt"
    DRAIN = "start nothing more; let attempts save and leave"
    ABORT = "end every attempt at once"
