"""Points that are lost, and what of a trial must not be gone on from because of them.

A trial that went on from a checkpoint whose points are lost would end with a hole in its curve, and
with a result that nobody has measured. So it has none, what lies beyond the points that are known
is put aside, and it is run again from there.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tunebook.core.events import Event, Logged, Resumed
from tunebook.core.trials import Cause, Outcome, OutcomeKind

# A trial without its points has no result: it is run again, as after any crash.
LOST_POINTS = Outcome(OutcomeKind.CRASHED, "its points were lost with the book")
# All steps of an attempt have their points; of one that is lost, none has.
ALL, NONE = math.inf, -1.0
_FOR_GOOD = (
    OutcomeKind.COMPLETE,
    OutcomeKind.STOPPED,
    OutcomeKind.INFEASIBLE,
    OutcomeKind.CANCELLED,
)


def last_step(events: Iterable[Event]) -> int:
    """The last step that events tell of."""
    found = [-1]
    for event in events:
        if isinstance(event, Logged):
            found += [int(block.steps[-1]) for block in event.blocks if len(block)]
        elif isinstance(event, Resumed):
            found.append(event.step)
    return max(found)


def went_on_from(events: Iterable[Event]) -> tuple[int, int] | None:
    """The attempt that these events went on from, and at which step."""
    found = [(event.source, event.step) for event in events if isinstance(event, Resumed)]
    return found[-1] if found else None


def is_hollow(number: int, source: tuple[int, int] | None, known: Mapping[int, float]) -> bool:
    """Whether an attempt went on from points that are lost.

    `known` has the step of each earlier attempt before which all points are there.
    """
    if source is None or source[0] >= number:
        return False
    return source[1] >= known.get(source[0], NONE)


def is_over(outcome: Outcome | None) -> bool:
    """Whether no attempt follows one that ended so."""
    if outcome is None or outcome.cause is Cause.OUT_OF_MEMORY:
        return False
    return outcome.kind in _FOR_GOOD


def any_lost(known: Mapping[int, float]) -> bool:
    """Whether an attempt lacks points; see `is_hollow`."""
    return any(step < ALL for step in known.values())


def beyond(place: Path, known: Mapping[int, float]) -> Iterator[Path]:
    """What the trial in a folder could go on from, though the points before it are lost.

    That is each attempt's checkpoints by step, and what a trial keeps for all of its attempts, of
    which nobody knows the step.
    """
    for number, step in known.items():
        saved = place / str(number) / "checkpoints"
        for entry in sorted(saved.iterdir()) if saved.is_dir() else ():
            if entry.name.isdecimal() and int(entry.name) >= step:
                yield entry
    files = place / "files"
    if any(path.is_file() for path in files.rglob("*")):
        yield files


def put_aside(path: Path) -> Path:
    """Give a file or folder a name under which nobody looks for it."""
    return path.rename(path.with_name(f"{path.name}.lost-{secrets.token_hex(4)}"))
