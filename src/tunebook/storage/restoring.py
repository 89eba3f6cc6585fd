"""Attempts that a book has lost, taken in again from the folders that they have left.

A book whose latest commits are lost (its log was cut or removed) does not know the attempts that
these had claimed. Their folders do: each holds its attempt and a spool of all it said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Connection, func, insert, or_, select

from tunebook.core.codec import dumps
from tunebook.core.events import Event, Finished
from tunebook.core.trials import Attempt, Outcome, OutcomeKind, Trial
from tunebook.storage import lost_points, schema
from tunebook.storage.claims import insert_trial
from tunebook.storage.folders import numbered
from tunebook.storage.ingestion import append_event
from tunebook.storage.lost_points import ALL, LOST_POINTS, NONE

LOST_ENDING = Outcome(OutcomeKind.CRASHED, "how it ended was lost with the book")


class After(StrEnum):
    """What an attempt has said beyond what its folder still tells."""

    NOTHING = "nothing"  # it has ended, was given up, lives, or was never begun
    UNKNOWN = "unknown"  # it tells no ending: it was killed, or its spool was cut
    LOST = "lost"  # there are or were records that cannot be read


@dataclass(frozen=True, slots=True)
class Story:
    """What the folder of an attempt tells: which attempt it was, and what it said.

    The records of its spool can be read up to the byte `end`. If it has `ended` by its own words,
    none is missing: an ending is the last of them.
    """

    attempt: Attempt
    events: Sequence[Event]
    end: int = 0
    after: After = After.NOTHING
    alive: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Untold:
    """An attempt was begun in a folder, and why nobody can say which it was."""

    why: str


Tell: TypeAlias = Callable[[Path], Story | Untold | None]


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
        told = {n: story for n in numbered(place) if n > known and (story := tell(place / str(n)))}
        if not told:
            continue
        if known:
            before = tell(place / str(known))
            if isinstance(before, Story):
                close(connection, before)
        found += _take_in(connection, key, place, known, told)
    return tuple(found)


def is_lost(story: Story, *, later: bool) -> bool:
    """Whether records of an attempt are lost.

    One that has `later` ones ended or was given up before them: its folder must say how.
    """
    return story.after is After.LOST or (later and story.after is After.UNKNOWN)


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


def close(connection: Connection, story: Story, ending: Outcome = LOST_ENDING) -> None:
    """Take in all that an attempt said; it has ended in any case, since a later one exists.

    If points are lost, so is how it ended: it has no result, whatever it says.
    """
    for event in story.events:
        if ending != LOST_POINTS or not isinstance(event, Finished):
            append_event(connection, event)
    append_event(connection, Finished(story.attempt, ending, 0.0))


def _take_in(
    connection: Connection, key: int, place: Path, known: int, told: Mapping[int, Story | Untold]
) -> Iterator[Attempt]:
    """The attempts of one trial; what lies beyond points that are lost is put aside."""
    points = dict.fromkeys(range(1, known + 1), ALL)
    over = False
    for number, story in told.items():
        if isinstance(story, Untold):
            points[number], over = NONE, False
            continue
        if not insert_attempt(connection, key, story.attempt):
            continue
        yield story.attempt
        later = number < max(told)
        points[number] = points_known(number, story, points, later=later)
        if points[number] < ALL:
            close(connection, story, LOST_POINTS)
        elif later:
            close(connection, story)
        over = points[number] == ALL and lost_points.is_over(own_ending(story))
    alive = any(isinstance(story, Story) and story.alive for story in told.values())
    if lost_points.any_lost(points) and not over and not alive:
        for path in [*lost_points.beyond(place, points)]:
            lost_points.put_aside(path)


def points_known(number: int, story: Story, points: Mapping[int, float], *, later: bool) -> float:
    """The step before which all points of an attempt are there, given those of the earlier ones."""
    if lost_points.is_hollow(number, lost_points.went_on_from(story.events), points):
        return NONE
    return lost_points.last_step(story.events) if is_lost(story, later=later) else ALL


def own_ending(story: Story) -> Outcome | None:
    """How an attempt ended by its own words."""
    return next((e.outcome for e in story.events if isinstance(e, Finished)), None)


def _latest_attempts(connection: Connection, key: int) -> dict[int, int]:
    """The number of the latest attempt of each trial."""
    rows = connection.execute(
        select(schema.trials.c.number, func.max(schema.attempts.c.number))
        .join_from(schema.trials, schema.attempts)
        .where(schema.trials.c.study == key)
        .group_by(schema.trials.c.number)
    )
    return {row[0]: row[1] for row in rows}


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
