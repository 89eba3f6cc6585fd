"""Trials, their attempts, and how attempts end. A trial's status is derived, never stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from tunebook.core.space import Config, Setting


class OutcomeKind(StrEnum):
    """How an attempt ended."""

    COMPLETE = "complete"  # it did what it was asked to do
    STOPPED = "stopped"  # by a rule: its result is censored
    INFEASIBLE = "infeasible"  # diverged, out of memory, or said so itself
    FAILED = "failed"  # the program's error
    CRASHED = "crashed"  # the machine's
    PREEMPTED = "preempted"  # asked to leave; it goes on later
    CANCELLED = "cancelled"  # by the user, for good


class Cause(StrEnum):
    """Why an attempt ended so, where more than one reason leads to the same kind."""

    NONE = ""
    DIVERGED = "diverged"
    OUT_OF_MEMORY = "out of memory"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended, always with a reason; `detail` holds a traceback or the like."""

    kind: OutcomeKind
    reason: str
    cause: Cause = Cause.NONE
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FromSequence:
    """A point of a fixed sequence: what analysis may treat as non-adaptive."""

    index: int


@dataclass(frozen=True, slots=True)
class Adaptive:
    """A proposal that had seen results: `seen` counts them."""

    index: int
    sampler: str
    seen: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A configuration that the user wrote down."""

    index: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A trial that another tool ran."""

    index: int
    source: str


@dataclass(frozen=True, slots=True)
class Replicate:
    """The configuration of another trial with a new seed."""

    index: int
    of: int


Origin: TypeAlias = FromSequence | Adaptive | Listed | Imported | Replicate


@dataclass(frozen=True, slots=True)
class Code:
    """Which code ran: a commit, and hashes of what was not committed and of the program's file."""

    commit: str | None = None
    difference: str | None = None
    source: str | None = None

    def __str__(self) -> str:
        commit = self.commit[:10] if self.commit else "no commit"
        changes = f" + changes {self.difference[:8]}" if self.difference else ""
        return f"{commit}{changes}" + (f", file {self.source[:8]}" if self.source else "")


NO_CODE = Code()


@dataclass(frozen=True, slots=True)
class Trial:
    """A configuration with its seed; `number` counts from 1 within its study."""

    study: str
    number: int
    setting: Setting
    config: Config
    seed: int
    origin: Origin
    code: Code = NO_CODE

    @property
    def index(self) -> int:
        return self.origin.index


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a trial. The token fences out every earlier try; `folder` is its own."""

    trial: Trial
    number: int
    token: str
    folder: str

    @property
    def name(self) -> str:
        return f"{self.trial.study}/{self.trial.number} attempt {self.number}"


@dataclass(frozen=True, slots=True)
class Ended:
    """What retrying needs to know of one attempt: how it ended (None: it has not), and where."""

    outcome: Outcome | None
    last_step: int
    code: Code


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Which attempts are followed by another.

    Crashes are tried again until three in a row got no further than the ones before them, running
    out of memory once, a preemption as long as the trial moves forward, and always when a user
    runs the study anew. A failure is the program's own: it is tried again when the code has changed
    since, or when `failed` says so.
    """

    crashes: int = 3
    out_of_memory: int = 2
    stuck_preemptions: int = 10
    failed: bool = False

    def wants_another(
        self, attempts: Sequence[Ended], code: Code | None = None, *, anew: bool = False
    ) -> bool:
        """Whether a trial with these attempts is to be tried (again) by this code.

        `anew` says that a user has just begun to run the study, for the first time or again.
        """
        if not attempts:
            return True
        last = attempts[-1]
        if last.outcome is None:
            return False
        changed = code is not None and last.code != code
        match last.outcome.kind:
            case OutcomeKind.CRASHED:
                return _stuck_crashes(attempts) < self.crashes or changed or self.failed
            case OutcomeKind.FAILED:
                return changed or self.failed
            case OutcomeKind.PREEMPTED:
                recent = attempts[-self.stuck_preemptions :]
                stuck = all(
                    _has(attempt, OutcomeKind.PREEMPTED)
                    and attempt.last_step <= recent[0].last_step
                    for attempt in recent
                )
                return anew or len(recent) < self.stuck_preemptions or not stuck
            case OutcomeKind.INFEASIBLE if last.outcome.cause is Cause.OUT_OF_MEMORY:
                tries = sum(
                    attempt.outcome is not None and attempt.outcome.cause is Cause.OUT_OF_MEMORY
                    for attempt in attempts
                )
                return tries < self.out_of_memory
        return False


def _stuck_crashes(attempts: Sequence[Ended]) -> int:
    """How many crashes there have been since one got further than every attempt before it."""
    stuck, furthest = 0, -1
    for attempt in attempts:
        if _has(attempt, OutcomeKind.CRASHED):
            stuck = 1 if attempt.last_step > furthest else stuck + 1
        furthest = max(furthest, attempt.last_step)
    return stuck


def _has(attempt: Ended, kind: OutcomeKind) -> bool:
    return attempt.outcome is not None and attempt.outcome.kind is kind
