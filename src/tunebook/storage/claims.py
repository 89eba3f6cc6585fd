"""Studies made known and trials claimed. Each function runs inside a transaction."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from sqlalchemy import Connection, bindparam, func, insert, select, update

from tunebook.core.codec import dumps, loads
from tunebook.core.errors import StoreError, StudyChanged
from tunebook.core.protocols import Proposal
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Cause, Code, Outcome, OutcomeKind, Trial
from tunebook.storage import schema
from tunebook.storage.definitions import Shelf
from tunebook.storage.faults import refused
from tunebook.storage.reading import attempt_folder, find_key, look_up_study, nearest_study

_TRIED_AGAIN = (OutcomeKind.FAILED, OutcomeKind.CRASHED, OutcomeKind.PREEMPTED)

# Built once: these run for every trial, and building them takes longer than running them.
_KNOWN_TRIAL = select(schema.trials.c.id, schema.trials.c.number, schema.trials.c.spec).where(
    schema.trials.c.study == bindparam("study"),
    schema.trials.c.setting == bindparam("setting"),
    schema.trials.c.origin == bindparam("origin"),
    schema.trials.c.origin_index == bindparam("origin_index"),
)
_HIGHEST_TRIAL = select(func.max(schema.trials.c.number)).where(
    schema.trials.c.study == bindparam("study")
)
_LATEST_ATTEMPT = (
    select(schema.attempts.c.number, schema.attempts.c.outcome)
    .where(schema.attempts.c.trial == bindparam("trial"))
    .order_by(schema.attempts.c.number.desc())
    .limit(1)
)
_INSERT_TRIAL, _INSERT_ATTEMPT = insert(schema.trials), insert(schema.attempts)


def create_study(connection: Connection, shelf: Shelf, study: Study) -> Study:
    """Make a study known, or join it with what may change brought up to date."""
    stored = look_up_study(connection, study.name)
    if stored is None:
        _check_parent(connection, study)
        taken = connection.execute(select(schema.studies.c.id)).scalars()
        ever = connection.exec_driver_sql("SELECT seq FROM sqlite_sequence").scalars()
        key = shelf.new_key(study, {*taken}, max(ever, default=0))
        connection.execute(
            insert(schema.studies).values(id=key, name=study.name, spec=dumps(study))
        )
        shelf.write(key, study)
        return study
    key, known = stored
    difference = known.difference(study)
    if difference:
        raise StudyChanged(_changed(study.name, difference), difference)
    newer = update(schema.studies).where(schema.studies.c.id == key).values(spec=dumps(study))
    connection.execute(newer)
    shelf.write(key, study)
    return study


def claim_attempt(
    connection: Connection, folder: Path, study: str, proposal: Proposal, code: Code
) -> Attempt:
    """A new attempt at the proposed trial, with its folder; the stored configuration wins."""
    key = find_key(connection, study)
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
        _INSERT_ATTEMPT,
        {
            "trial": trial_key,
            "number": number,
            "token": attempt.token,
            "code": dumps(code),
            "claimed_at": time.time(),  # for people to read; nothing is decided by it
        },
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
    who = {"study": study, **_identity(proposal)}
    row = connection.execute(_KNOWN_TRIAL, who).one_or_none()
    return None if row is None else (row.id, row.number, row.spec)


def _insert_trial(connection: Connection, study: int, proposal: Proposal) -> tuple[int, int, str]:
    highest = connection.execute(_HIGHEST_TRIAL, {"study": study}).scalar_one()
    return insert_trial(connection, study, (highest or 0) + 1, proposal)


def insert_trial(
    connection: Connection, study: int, number: int, proposal: Proposal | Trial
) -> tuple[int, int, str]:
    """A trial that is new to the book; its key, number and content."""
    spec = dumps(
        {
            "setting": proposal.setting,
            "config": dict(proposal.config),
            "seed": proposal.seed,
            "origin": proposal.origin,
        }
    )
    values = {"study": study, "number": number, **_identity(proposal), "spec": spec}
    return connection.execute(_INSERT_TRIAL, values).lastrowid, number, spec


def _identity(proposal: Proposal | Trial) -> dict[str, object]:
    """What tells a trial from all others of its study."""
    return {
        "setting": proposal.setting.key,
        "origin": type(proposal.origin).__name__,
        "origin_index": proposal.origin.index,
    }


def _next_attempt(connection: Connection, key: int, trial: Trial) -> int:
    """The number of a further attempt, which only some outcomes of the latest one allow."""
    latest = connection.execute(_LATEST_ATTEMPT, {"trial": key}).one_or_none()
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
        if any(folder.iterdir()):
            # Of an attempt that the book has lost and could not take in: its files are no others'.
            folder.rename(folder.with_name(f"{folder.name}.lost-{secrets.token_hex(4)}"))
            folder.mkdir(mode=0o700)
    except OSError as error:
        raise refused(folder, error) from error
