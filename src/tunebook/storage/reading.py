"""Rows of the store as the nouns of core: a study, its trials, and the curves in force."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, bindparam, select

from tunebook.core.codec import loads
from tunebook.core.errors import UnknownName, did_you_mean
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.study import Study
from tunebook.core.trials import NO_CODE, Trial
from tunebook.storage import blocks, schema
from tunebook.storage.lineage import curves_in_force

# The fields of `AttemptRecord` that lie in columns of the same name.
_AS_THEY_ARE = (
    "token",
    "seconds",
    "last_step",
    "source",
    "resumed_at",
    "host",
    "pid",
    "offset",
)
_KEY_OF_STUDY = select(schema.studies.c.id).where(schema.studies.c.name == bindparam("name"))


def attempt_folder(folder: Path, study: int, trial: int, attempt: int) -> str:
    """The folder of one attempt: ids and numbers, never names."""
    return f"{folder}/{study}/{trial}/{attempt}"


def read_studies(connection: Connection) -> tuple[Study, ...]:
    specs = connection.execute(select(schema.studies.c.spec).order_by(schema.studies.c.id))
    return tuple(loads(spec) for spec in specs.scalars())


def look_up_study(connection: Connection, name: str) -> tuple[int, Study] | None:
    """The key of a study and the study, or None."""
    query = select(schema.studies.c.id, schema.studies.c.spec)
    row = connection.execute(query.where(schema.studies.c.name == name)).one_or_none()
    return None if row is None else (row.id, loads(row.spec))


def find_study(connection: Connection, name: str) -> tuple[int, Study]:
    """The key of a study that must exist, and the study."""
    found = look_up_study(connection, name)
    if found is None:
        raise _unknown(connection, name)
    return found


def find_key(connection: Connection, name: str) -> int:
    """The key of a study that must exist."""
    key = connection.execute(_KEY_OF_STUDY, {"name": name}).scalar_one_or_none()
    if key is None:
        raise _unknown(connection, name)
    return int(key)


def _unknown(connection: Connection, name: str) -> UnknownName:
    return UnknownName(f"the book has no study {name!r}{nearest_study(connection, name)}")


def nearest_study(connection: Connection, name: str) -> str:
    """A clause that offers the study with the nearest name, or nothing."""
    return did_you_mean(name, connection.execute(select(schema.studies.c.name)).scalars())


def read_results(
    connection: Connection, folder: Path, name: str, metrics: Collection[str] | None
) -> Results:
    """A study with its trials; the caller's transaction makes them one moment."""
    key, study = find_study(connection, name)
    attempts = _read_attempts(connection, folder, key)
    points = _read_points(connection, key, metrics)
    trials = connection.execute(
        select(schema.trials.c.id, schema.trials.c.number, schema.trials.c.spec)
        .where(schema.trials.c.study == key)
        .order_by(schema.trials.c.number)
    )
    records = []
    for trial, number, spec in trials:
        tries = attempts.get(trial, {})
        latest = tuple(tries.values())
        code = latest[-1].code if latest else NO_CODE
        logged = {record.number: points.pop(row, {}) for row, record in tries.items()}
        records.append(
            TrialRecord(
                Trial(name, number, **loads(spec), code=code),
                latest,
                curves_in_force(latest, logged),
            )
        )
    return Results(study, tuple(records))


def _read_attempts(
    connection: Connection, folder: Path, study: int
) -> dict[int, dict[int, AttemptRecord]]:
    """The attempts of each trial by their keys, in the order of their numbers."""
    notes = _read_notes(connection, study)
    known = cache(loads)  # most attempts share their code and outcome
    columns = schema.attempts.c
    rows = connection.execute(
        select(
            schema.trials.c.id,
            schema.trials.c.number,
            columns.id,
            columns.number,
            columns.code,
            columns.outcome,
            *(columns[name] for name in _AS_THEY_ARE),
        )
        .join_from(schema.trials, schema.attempts)
        .where(schema.trials.c.study == study)
        .order_by(schema.trials.c.number, columns.number)
    )
    found: dict[int, dict[int, AttemptRecord]] = {}
    # By position: there may be a hundred thousand rows, and names have to be looked up.
    for trial, trial_number, key, number, code, outcome, *as_they_are in rows:
        found.setdefault(trial, {})[key] = AttemptRecord(
            number=number,
            folder=attempt_folder(folder, study, trial_number, number),
            code=known(code),
            outcome=known(outcome) if outcome is not None else None,
            notes=tuple(notes.get(key, ())),
            **dict(zip(_AS_THEY_ARE, as_they_are, strict=True)),
        )
    return found


def _read_points(
    connection: Connection, study: int, metrics: Collection[str] | None
) -> dict[int, blocks.Parts]:
    if metrics is not None and not metrics:
        return {}
    return blocks.load(connection, schema.trials.c.study == study, metrics)


def _read_notes(connection: Connection, study: int) -> dict[int, list[str]]:
    rows = connection.execute(
        select(schema.notes.c.attempt, schema.notes.c.text)
        .select_from(schema.trials.join(schema.attempts).join(schema.notes))
        .where(schema.trials.c.study == study)
        .order_by(schema.notes.c.id)
    )
    found: dict[int, list[str]] = {}
    for attempt, text in rows:
        found.setdefault(attempt, []).append(text)
    return found
