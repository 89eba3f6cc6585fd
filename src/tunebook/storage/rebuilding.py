"""A new book from what is left of a damaged one, and from the files of the attempts themselves.

What an attempt's own files say counts more than what the book said of it: its configuration was
written once, and each record of its spool has a checksum. Where the two differ, both are told. The
book has what no file holds: how those ended that could not say so themselves, and the attempts
whose folders are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, insert

from tunebook.core.codec import dumps
from tunebook.core.events import Finished, Logged
from tunebook.core.representation import listed
from tunebook.core.study import Study
from tunebook.core.trials import Outcome, OutcomeKind, Trial
from tunebook.storage import comparing, schema
from tunebook.storage.claims import insert_trial
from tunebook.storage.connections import create_book, durable, open_engine
from tunebook.storage.definitions import Shelf
from tunebook.storage.folders import numbered
from tunebook.storage.ingestion import append_event
from tunebook.storage.migrations import VERSION
from tunebook.storage.remains import KeptAttempt, KeptTrial, Remains
from tunebook.storage.restoring import LOST_ENDING, Story, Tell, insert_attempt

_AS_KNOWN = ("host", "pid", "seconds", "claimed_at")
_HOW_FAR = ("source", "resumed_at", "offset", "last_step")


# A trial without its points has no result: it is run again, as after any crash.
LOST_POINTS = Outcome(OutcomeKind.CRASHED, "its points were lost with the book")


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was recovered of a study: how much, how many attempts by their spools, what is lost.

    `differences` are what the damaged book said otherwise than the files, which count.
    """

    study: str
    trials: int
    attempts: int
    ended: int
    from_spools: int
    lost: tuple[str, ...]
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Made:
    """One attempt of the new book."""

    ended: bool
    told: bool
    lost: tuple[str, ...]
    differences: tuple[str, ...] = ()


def rebuild(book: Path, left: Remains, shelf: Shelf, tell: Tell) -> tuple[Recovered, ...]:
    """Make a new book; what was recovered of each study, in the order of creation."""
    create_book(book, VERSION)
    engine = open_engine(book, readonly=False)
    try:
        with durable(engine).begin() as connection:
            studies, changed = _studies(left, shelf)
            made = []
            for key, study in sorted(studies.items()):
                row = {"id": key, "name": study.name, "spec": dumps(study)}
                connection.execute(insert(schema.studies), row)
                kept = left.trials.get(key, {})
                folder = None if shelf.is_foreign(key) else shelf.root / str(key)
                done = _study(connection, key, study, kept, folder, tell)
                done = replace(done, differences=(*changed.get(key, ()), *done.differences))
                made.append(_with_doubt(done, left))
            return (*made, *_left_out(left, shelf, studies))
    finally:
        engine.dispose()


def _studies(left: Remains, shelf: Shelf) -> tuple[dict[int, Study], dict[int, tuple[str, ...]]]:
    """The studies of the new book by their keys, and what the old one said otherwise of them.

    They are those of the old one, and those with a file. A file counts where the two differ in what
    may never change; of all else, such as the number of trials, the book knows the latest. Of two
    with one name, as when a book was removed and its study changed, it is the later.
    """
    names = {study.name for study in left.studies.values()}
    own = shelf.read()
    files = {key: study for key, study in own.items() if study.name not in names}
    changed = {
        key: lines
        for key, study in left.studies.items()
        if key in own and own[key].name == study.name
        if (lines := tuple(comparing.of_study(study, own[key])))
    }
    found = {**files, **left.studies, **{key: own[key] for key in changed}}
    latest = {study.name: key for key, study in sorted(found.items())}
    return {key: found[key] for key in latest.values()}, changed


def _left_out(left: Remains, shelf: Shelf, studies: Mapping[int, Study]) -> Iterator[Recovered]:
    """Studies that the new book lacks: nobody knows what they asked, or a later has their name."""
    known = {**shelf.read(), **left.studies}
    for key in sorted({*left.trials, *shelf.own_keys()} - {*studies}):
        folder = shelf.root / str(key)
        trials = {*left.trials.get(key, {}), *numbered(folder)}
        if not trials:
            continue
        why = "the study's definition was found nowhere"
        if key in known:
            why = f"a later study is called {known[key].name}, too; they stay in {folder}"
        line = f"trials 1 to {max(trials)}: {why}"
        yield Recovered(f"study {key}", 0, 0, 0, 0, (line,))


def _study(
    connection: Connection,
    key: int,
    study: Study,
    kept: Mapping[int, KeptTrial],
    folder: Path | None,
    tell: Tell,
) -> Recovered:
    trials: list[int] = []
    made: list[_Made] = []
    for number in sorted({*kept, *(numbered(folder) if folder else ())}):
        stories = dict(_stories(folder / str(number), study.name, tell)) if folder else {}
        attempts = list(_attempts(connection, key, study.name, kept.get(number), stories))
        made += attempts
        trials += [number] if attempts else []
    gone = sorted({*range(1, max(trials, default=0) + 1)} - {*trials})
    return Recovered(
        study.name,
        trials=len(trials),
        attempts=len(made),
        ended=sum(attempt.ended for attempt in made),
        from_spools=sum(attempt.told for attempt in made),
        lost=(
            *(line for attempt in made for line in attempt.lost),
            *_in_words(gone),
        ),
        differences=tuple(line for attempt in made for line in attempt.differences),
    )


def _in_words(gone: Sequence[int]) -> Iterator[str]:
    if gone:
        what = "trial" if len(gone) == 1 else "trials"
        yield f"{what} {listed([str(number) for number in gone], 20)}: nothing was found"


def _with_doubt(made: Recovered, left: Remains) -> Recovered:
    """Some rows cannot be read; where each attempt has its files, these have filled the holes."""
    doubts = []
    if made.attempts == 0 or made.from_spools < made.attempts:
        if left.doubtful_trials:
            doubts.append("perhaps more trials: rows of the book cannot be read")
        if left.doubtful_points:
            doubts.append("perhaps points of trials whose files are gone")
    return replace(made, lost=(*made.lost, *doubts))


def _stories(place: Path, study: str, tell: Tell) -> Iterator[tuple[int, Story]]:
    for number in numbered(place):
        story = tell(place / str(number))
        if story is not None and story.attempt.trial.study == study:
            yield number, story


def _attempts(
    connection: Connection,
    key: int,
    study: str,
    kept: KeptTrial | None,
    stories: Mapping[int, Story],
) -> Iterator[_Made]:
    """The attempts of one trial, made in their order: each ends before the next one begins."""
    known = kept.attempts if kept is not None else {}
    numbers = sorted({*known, *stories})
    if not numbers:
        return
    # A folder that is another attempt's says nothing of this trial.
    own = {
        number: story.attempt.trial
        for number, story in stories.items()
        if number not in known or known[number].row["token"] == story.attempt.token
    }
    if own:
        trial = next(iter(own.values()))
    else:
        assert kept is not None, "an attempt is known to the book or by its folder"
        trial = kept.trial
    trial = replace(trial, study=study)
    changed = tuple(comparing.of_trial(kept.trial, trial)) if kept is not None else ()
    trial_key = insert_trial(connection, key, trial.number, trial)[0]
    for number in numbers:
        last = number == numbers[-1]
        made = _attempt(
            connection, key, trial_key, trial, known.get(number), stories.get(number), last
        )
        yield replace(made, differences=(*changed, *made.differences))
        changed = ()


def _attempt(
    connection: Connection,
    key: int,
    trial_key: int,
    trial: Trial,
    kept: KeptAttempt | None,
    story: Story | None,
    last: bool,
) -> _Made:
    lost: list[str] = []
    changed: tuple[str, ...] = ()
    pointless = False
    if kept is not None:
        attempt = kept.attempt(trial)
        if story is not None and story.attempt.token != attempt.token:
            story = None  # the folder is another attempt's
        if story is not None:
            changed = tuple(
                comparing.of_attempt(trial.number, attempt.number, kept.code, kept.outcome, story)
            )
        pointless = _copy(connection, trial_key, kept, story) and kept.broken
        if pointless:
            lost.append(f"trial {trial.number}: points of attempt {attempt.number}")
    else:
        assert story is not None, "an attempt is known to the book or by its folder"
        attempt = story.attempt
        insert_attempt(connection, key, attempt)
    for event in story.events if story is not None else ():
        append_event(connection, event)
    ended = not last or (kept is not None and kept.unended)
    # What has ended stays as it ended: a second ending is refused.
    if pointless and kept is not None and kept.outcome is not None:
        append_event(connection, Finished(attempt, LOST_POINTS, float(kept.row["seconds"])))
    elif kept is not None and kept.outcome is not None:
        append_event(connection, Finished(attempt, kept.outcome, float(kept.row["seconds"])))
    elif ended and append_event(connection, Finished(attempt, LOST_ENDING, 0.0)):
        lost.append(f"trial {trial.number}: how attempt {attempt.number} ended")
    return _Made(_has_ended(kept, story) or ended, story is not None, tuple(lost), changed)


def _copy(connection: Connection, trial_key: int, kept: KeptAttempt, story: Story | None) -> bool:
    """An attempt as the book knew it; with its points, and True, where the spool has fewer."""
    row = kept.row
    told = max((event.offset for event in _logged(story)), default=0)
    copied = story is None or told < row["offset"]
    values = {name: row[name] for name in (_AS_KNOWN + _HOW_FAR if copied else _AS_KNOWN)}
    code = kept.code if story is None else story.attempt.trial.code
    values |= {"number": row["number"], "token": row["token"], "code": dumps(code)}
    inserted = connection.execute(insert(schema.attempts), {"trial": trial_key, **values})
    key = inserted.lastrowid
    if copied:
        for text in dict.fromkeys(kept.notes):
            connection.execute(insert(schema.notes), {"attempt": key, "text": text})
        for block, columns in kept.points:
            content = {**block, "id": None, "attempt": key}
            number = connection.execute(insert(schema.blocks), content).lastrowid
            connection.execute(insert(schema.columns), [{**c, "block": number} for c in columns])
    return copied


def _logged(story: Story | None) -> Iterator[Logged]:
    events = story.events if story is not None else ()
    return (event for event in events if isinstance(event, Logged))


def _has_ended(kept: KeptAttempt | None, story: Story | None) -> bool:
    told = story is not None and any(isinstance(event, Finished) for event in story.events)
    return told or (kept is not None and kept.outcome is not None)
