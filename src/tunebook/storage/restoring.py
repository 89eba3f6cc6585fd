"""Attempts that a book has lost, taken in again from the folders that they have left.

A book whose latest commits are lost (its log was cut or removed) does not know the attempts that
these had claimed. Their folders do: each holds its attempt and a spool of all it said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Connection, func, insert, or_, select

from tunebook.core.codec import dumps
from tunebook.core.events import Event, Finished
from tunebook.core.trials import Attempt, Outcome, OutcomeKind, Trial
from tunebook.storage import schema
from tunebook.storage.claims import insert_trial
from tunebook.storage.folders import numbered
from tunebook.storage.ingestion import append_event

LOST_ENDING = Outcome(OutcomeKind.CRASHED, "how it ended was lost with the book")


@dataclass(frozen=True, slots=True)
class Story:
    """What the folder of an attempt tells: which attempt it was, and what it said."""

    attempt: Attempt
    events: Iterable[Event]


Tell: TypeAlias = Callable[[Path], Story | None]


def take_in(connection: Connection, folder: Path, key: int, tell: Tell) -> tuple[Attempt, ...]:
    """Make the attempts of a study known that have a folder and are not in the book.

    The last of a trial stays open: whoever runs the study reads its spool, as that of any attempt
    that was left behind. Of those before it, all is taken in at once.
    """
    found: list[Attempt] = []
    latest = _latest_attempts(connection, key)
    for trial in numbered(folder / str(key)):
        place = folder / str(key) / str(trial)
        known = latest.get(trial, 0)
        # Most trials are known with all their attempts: one look is enough for each of these.
        if known and not (place / str(known + 1)).is_dir():
            continue
        missing = [story for n in numbered(place) if n > known and (story := tell(place / str(n)))]
        if not missing:
            continue
        if known:
            before = tell(place / str(known))
            if before is not None:
                close(connection, before)
        for story, later in _with_later(missing):
            if insert_attempt(connection, key, story.attempt):
                found.append(story.attempt)
                if later:
                    close(connection, story)
    return tuple(found)


def insert_attempt(connection: Connection, key: int, attempt: Attempt) -> bool:
    """Make an attempt known, with its trial; False if the book has other ones in their place."""
    trial = _same_trial(connection, key, attempt.trial)
    if trial is None:
        return False
    clash = select(schema.attempts.c.id).where(
        or_(
            schema.attempts.c.token == attempt.token,
            (schema.attempts.c.trial == trial) & (schema.attempts.c.number == attempt.number),
        )
    )
    if connection.execute(clash).first() is not None:
        return False
    connection.execute(
        insert(schema.attempts).values(
            trial=trial,
            number=attempt.number,
            token=attempt.token,
            code=dumps(attempt.trial.code),
            claimed_at=time.time(),
        )
    )
    return True


def close(connection: Connection, story: Story) -> None:
    """Take in all that an attempt said; it has ended in any case, since a later one exists."""
    for event in story.events:
        append_event(connection, event)
    append_event(connection, Finished(story.attempt, LOST_ENDING, 0.0))


def _latest_attempts(connection: Connection, key: int) -> dict[int, int]:
    """The number of the latest attempt of each trial."""
    rows = connection.execute(
        select(schema.trials.c.number, func.max(schema.attempts.c.number))
        .join_from(schema.trials, schema.attempts)
        .where(schema.trials.c.study == key)
        .group_by(schema.trials.c.number)
    )
    return {row[0]: row[1] for row in rows}


def _with_later(stories: list[Story]) -> Iterator[tuple[Story, bool]]:
    for place, story in enumerate(stories, 1):
        yield story, place < len(stories)


def _same_trial(connection: Connection, key: int, trial: Trial) -> int | None:
    """The key of a trial, made known if need be; None if its number or point is another's."""
    rows = connection.execute(
        select(schema.trials).where(
            schema.trials.c.study == key,
            or_(
                schema.trials.c.number == trial.number,
                (schema.trials.c.setting == trial.setting.key)
                & (schema.trials.c.origin == type(trial.origin).__name__)
                & (schema.trials.c.origin_index == trial.index),
            ),
        )
    ).all()
    if not rows:
        return insert_trial(connection, key, trial.number, trial)[0]
    row = rows[0]
    same = (row.number, row.setting, row.origin, row.origin_index) == (
        trial.number,
        trial.setting.key,
        type(trial.origin).__name__,
        trial.index,
    )
    return int(row.id) if same and len(rows) == 1 else None
