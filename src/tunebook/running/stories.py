"""What the folder of an attempt tells by itself, without the book."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tunebook.core.errors import StoreError
from tunebook.core.events import Event, Finished
from tunebook.execution import outcomes, records
from tunebook.execution.spec import Spec
from tunebook.files import locks, spool
from tunebook.storage.restoring import After, Story, Untold

# What may lie in the folder of an attempt that nobody has begun.
_BEFORE = {"lock", "stop", "fenced"}
# What lies only in the folder of one that has begun.
_SINCE = ("log.txt", "run", "checkpoints")
# How the record of an ending begins.
_ENDING = b'F{"fact": "finished"'
# As whoever gives up an attempt says.
_DIED = outcomes.vanished("its processes died without a word")


def tell(folder: Path) -> Story | Untold | None:
    """The attempt in a folder and all that its spool holds; None if nothing was begun there."""
    if not folder.is_dir() or _is_blank(folder):
        return None
    try:
        spec = Spec.read(folder)
    except FileNotFoundError:
        return Untold("attempt.json is missing")
    except (OSError, ValueError, TypeError, KeyError, AttributeError, StoreError):
        return Untold("attempt.json cannot be read")
    trial, number = spec.attempt.trial.number, spec.attempt.number
    if (str(trial), str(number)) != (folder.parent.name, folder.name):
        return Untold(f"attempt.json is that of trial {trial}, attempt {number}")
    # The folder may have been moved with the book since.
    return _story(replace(spec, attempt=replace(spec.attempt, folder=str(folder))))


def _is_blank(folder: Path) -> bool:
    names = (entry.name for entry in folder.iterdir())
    return all(name in _BEFORE or name.startswith(".") for name in names)


def _story(spec: Spec) -> Story:
    # Asked first: what has died by then writes no more.
    alive = _is_alive(spec)
    events, end, known = _events(spec)
    ended = any(isinstance(event, Finished) for event in events)
    if alive or ended:
        return Story(spec.attempt, events, end, alive=alive, ended=ended)
    if known is After.NOTHING:
        known = _after(spec, end)
    if known is not After.LOST and spec.fence.exists():
        # Whoever gave it up had found no ending, and has said so in the book.
        ending = Finished(spec.attempt, _DIED, 0.0)
        return Story(spec.attempt, (*events, ending), end)
    return Story(spec.attempt, events, end, known)


def _events(spec: Spec) -> tuple[tuple[Event, ...], int, After]:
    """What the spool says up to which byte; and whether records follow that nobody can read."""
    events: list[Event] = []
    end = 0
    try:
        for record, offset in spool.read(spec.spool):
            events.append(records.event(spec.attempt, record, offset))
            end = offset
    except (StoreError, OSError):
        # A record of a newer tunebook, or a broken disk; what comes before it counts.
        return tuple(events), end, After.LOST
    return tuple(events), end, After.NOTHING


def _after(spec: Spec, end: int) -> After:
    """What follows the last record of an attempt that does not live and has told no ending."""
    if end == 0 and not _has(spec.spool):
        begun = any((spec.folder / name).exists() for name in _SINCE)
        return After.LOST if begun else After.NOTHING
    rest = spool.rest(spec.spool, end)
    # An ending that lies further on than the first record has others before it.
    broken = not spool.may_be_cut(rest) or rest.find(_ENDING, spool.HEADER_BYTES + 1) >= 0
    return After.LOST if broken else After.UNKNOWN


def _has(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _is_alive(spec: Spec) -> bool:
    try:
        return locks.is_held(spec.lock)
    except OSError:
        return False
