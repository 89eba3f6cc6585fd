"""What becomes of events. Each function runs inside a transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, Update, bindparam, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or_keep

from tunebook.core.codec import dumps
from tunebook.core.events import Event, Finished, Logged, Noted, Resumed, Started, Tick
from tunebook.core.trials import Attempt
from tunebook.storage import blocks, schema

# So many small pieces of a running attempt are merged into one: reading it stays cheap.
MOST_PARTS = 64

_LATER = schema.attempts.alias()
# Built once: these run for every event, and building them takes longer than running them.
_OPEN_ATTEMPT = (
    select(
        schema.attempts.c.id,
        schema.attempts.c.offset,
        schema.attempts.c.last_step,
        schema.attempts.c.parts,
    )
    .select_from(schema.studies.join(schema.trials).join(schema.attempts))
    .where(
        schema.studies.c.name == bindparam("study_name"),
        schema.trials.c.number == bindparam("trial_number"),
        schema.attempts.c.number == bindparam("attempt_number"),
        schema.attempts.c.token == bindparam("token"),
        schema.attempts.c.outcome.is_(None),
        ~select(_LATER.c.id)
        .where(_LATER.c.trial == schema.attempts.c.trial)
        .where(_LATER.c.number > schema.attempts.c.number)
        .exists(),
    )
)
_OF_ATTEMPT = update(schema.attempts).where(schema.attempts.c.id == bindparam("key"))


def _setting(*columns: str) -> Update:
    return _OF_ATTEMPT.values({name: bindparam(name) for name in columns})


_START = _setting("host", "pid")
_GROW = _setting("offset", "last_step", "parts")
_RESUME = _setting("source", "resumed_at", "last_step")
_FINISH = _setting("outcome", "seconds")


def append_event(connection: Connection, event: Event) -> bool:
    """Remember an event; False if its attempt has an outcome or is not the latest one."""
    if isinstance(event, Tick):
        return True
    row = _find_open_attempt(connection, event.attempt)
    if row is None:
        return False
    match event:
        case Started():
            _update(connection, _START, row.id, host=plain(event.host), pid=event.pid)
        case Logged():
            _append_points(connection, row, event)
        case Resumed():
            last_step = max(row.last_step, event.step)
            _update(
                connection,
                _RESUME,
                row.id,
                source=event.source,
                resumed_at=event.step,
                last_step=last_step,
            )
        case Noted():
            note = insert_or_keep(schema.notes).values(attempt=row.id, text=plain(event.text))
            connection.execute(note.on_conflict_do_nothing())
        case Finished():
            if row.parts > 1:
                blocks.consolidate(connection, row.id)
            outcome = dumps(event.outcome)
            _update(connection, _FINISH, row.id, outcome=outcome, seconds=event.seconds)
    return True


def plain(text: str) -> str:
    r"""Text that UTF-8 can hold: half of a surrogate pair is written as `\ud800`."""
    return text.encode("utf-8", "backslashreplace").decode()


def _find_open_attempt(connection: Connection, attempt: Attempt) -> Row[*tuple[Any, ...]] | None:
    """The row of an attempt that is the latest of its trial and has no outcome."""
    who = {
        "study_name": attempt.trial.study,
        "trial_number": attempt.trial.number,
        "attempt_number": attempt.number,
        "token": attempt.token,
    }
    return connection.execute(_OPEN_ATTEMPT, who).one_or_none()


def _append_points(connection: Connection, row: Row[*tuple[Any, ...]], event: Logged) -> None:
    if event.offset <= row.offset:  # these bytes of the spool are known
        return
    named = (replace(block, names=tuple(map(plain, block.names))) for block in event.blocks)
    arrived = blocks.merge(blocks.parts_of(named))
    blocks.save(connection, row.id, arrived)
    parts = row.parts + bool(arrived)
    if arrived and parts % MOST_PARTS == 0:
        blocks.consolidate_tail(connection, row.id)
    last_step = max([row.last_step, *(int(block.steps[-1]) for block in arrived)])
    _update(connection, _GROW, row.id, offset=event.offset, last_step=last_step, parts=parts)


def _update(connection: Connection, statement: Update, key: int, **values: object) -> None:
    connection.execute(statement, {"key": key, **values})
