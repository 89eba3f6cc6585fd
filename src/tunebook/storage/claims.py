"""Studies made known and trials claimed. Each function runs inside a transaction."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from sqlalchemy import Connection, func, insert, select, update

from tunebook.core.codec import dumps, loads
from tunebook.core.errors import StoreError, StudyChanged
from tunebook.core.protocols import Proposal
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Cause, Code, Outcome, OutcomeKind, Trial
from tunebook.storage import schema
from tunebook.storage.reading import attempt_folder, find_study, look_up_study, nearest_study

_TRIED_AGAIN = (OutcomeKind.FAILED, OutcomeKind.CRASHED, OutcomeKind.PREEMPTED)


def create_study(connection: Connection, study: Study) -> Study:
    """Make a study known, or join it with what may change brought up to date."""
    stored = look_up_study(connection, study.name)
    if stored is None:
        _check_parent(connection, study)
        connection.execute(insert(schema.studies).values(name=study.name, spec=dumps(study)))
        return study
    key, known = stored
    difference = known.difference(study)
    if difference:
        raise StudyChanged(_changed(study.name, difference), difference)
    newer = update(schema.studies).where(schema.studies.c.id == key).values(spec=dumps(study))
    connection.execute(newer)
    return study


def claim_attempt(
    connection: Connection, folder: Path, study: str, proposal: Proposal, code: Code
) -> Attempt:
    """A new attempt at the proposed trial, with its folder; the stored configuration wins."""
    key, _ = find_study(connection, study)
    found = _find_trial(connection, key, proposal) or _insert_trial(connection, key, proposal)
    trial_key, trial_number, spec = found
    trial = Trial(study, trial_number, **loads(spec), code=code)
    number = _next_attempt(connection, trial_key, trial)
    attempt = Attempt(
        trial=trial,
        number=number,
        token=secrets.token_hex(8),
        folder=attempt_folder(folder, key, trial.number, number),
    )
    connection.execute(
        insert(schema.attempts).values(
            trial=trial_key,
            number=number,
            token=attempt.token,
            code=dumps(code),
            claimed_at=time.time(),  # for people to read; nothing is decided by it
        )
    )
    # Before the claim is committed: an attempt in the book always has its folder.
    _make_folder(folder, Path(attempt.folder))
    return attempt


def _check_parent(connection: Connection, study: Study) -> None:
    if study.parent is not None and look_up_study(connection, study.parent) is None:
        raise StoreError(
            f"{study.name} names {study.parent!r} as its parent, which is not in this book"
            f"{nearest_study(connection, study.parent)}"
        )


def _changed(name: str, difference: tuple[str, ...]) -> str:
    lines = "\n".join(f"  {line}" for line in difference)
    return (
        f"the study {name} differs from the one in the book, so that their trials could not be "
        f"compared:\n{lines}\n"
        f"Either run it as a new study (another name, with `parent: {name}`), "
        "or put the old values back"
    )


def _find_trial(
    connection: Connection, study: int, proposal: Proposal
) -> tuple[int, int, str] | None:
    """The key, number and content of a trial that is known."""
    row = connection.execute(
        select(schema.trials.c.id, schema.trials.c.number, schema.trials.c.spec).where(
            schema.trials.c.study == study,
            schema.trials.c.setting == proposal.setting.key,
            schema.trials.c.origin == type(proposal.origin).__name__,
            schema.trials.c.origin_index == proposal.origin.index,
        )
    ).one_or_none()
    return None if row is None else (row.id, row.number, row.spec)


def _insert_trial(connection: Connection, study: int, proposal: Proposal) -> tuple[int, int, str]:
    highest = select(func.max(schema.trials.c.number)).where(schema.trials.c.study == study)
    number = (connection.execute(highest).scalar_one() or 0) + 1
    spec = dumps(
        {
            "setting": proposal.setting,
            "config": dict(proposal.config),
            "seed": proposal.seed,
            "origin": proposal.origin,
        }
    )
    inserted = connection.execute(
        insert(schema.trials).values(
            study=study,
            number=number,
            setting=proposal.setting.key,
            origin=type(proposal.origin).__name__,
            origin_index=proposal.origin.index,
            spec=spec,
        )
    )
    return inserted.lastrowid, number, spec


def _next_attempt(connection: Connection, key: int, trial: Trial) -> int:
    """The number of a further attempt, which only some outcomes of the latest one allow."""
    latest = connection.execute(
        select(schema.attempts.c.number, schema.attempts.c.outcome)
        .where(schema.attempts.c.trial == key)
        .order_by(schema.attempts.c.number.desc())
        .limit(1)
    ).one_or_none()
    if latest is None:
        return 1
    name = f"trial {trial.number} of {trial.study}"
    if latest.outcome is None:
        raise StoreError(
            f"{name} cannot be tried again: its attempt {latest.number} has not ended; "
            "wait for it, or record its end first"
        )
    outcome: Outcome = loads(latest.outcome)
    if outcome.kind not in _TRIED_AGAIN and outcome.cause is not Cause.OUT_OF_MEMORY:
        raise StoreError(
            f"{name} cannot be tried again: it is {outcome.kind} for good ({outcome.reason}); "
            "propose another configuration, or a replicate of it"
        )
    return int(latest.number) + 1


def _make_folder(root: Path, folder: Path) -> None:
    """Each level is made for its owner alone, whatever the umask."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for level in (folder.parent.parent, folder.parent, folder):
            level.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the attempt's folder {folder}: {error.strerror}; "
            "check the disk and the permissions"
        ) from error
