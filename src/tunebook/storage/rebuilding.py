"""A new book from what is left of a damaged one, and from the files of the attempts themselves.

What an attempt's own files say counts more than what the book said of it: its configuration was
written once, and each record of its spool has a checksum. Where the two differ, both are told. The
book has what no file holds: how those ended that could not say so themselves, and the attempts
whose folders are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, insert

from tunebook.core.codec import dumps
from tunebook.core.events import Finished, Logged
from tunebook.core.representation import listed
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Outcome, Trial
from tunebook.storage import comparing, lost_points, schema
from tunebook.storage.claims import insert_trial
from tunebook.storage.connections import create_book, durable, open_engine
from tunebook.storage.definitions import Shelf
from tunebook.storage.folders import numbered
from tunebook.storage.ingestion import append_event
from tunebook.storage.lost_points import ALL, LOST_POINTS, NONE
from tunebook.storage.migrations import VERSION
from tunebook.storage.remains import KeptAttempt, KeptTrial, Remains
from tunebook.storage.restoring import (
    LOST_ENDING,
    After,
    Story,
    Tell,
    Untold,
    insert_attempt,
    is_lost,
    own_ending,
)

_AS_KNOWN = ("host", "pid", "seconds", "claimed_at")
_HOW_FAR = ("source", "resumed_at", "offset", "last_step")


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was recovered of a study: how much, how many attempts by their spools, what is lost.

    `differences` are what the damaged book said otherwise than the files, which count. `beyond` are
    the paths that nothing may go on from, since points before them are lost, or may be.
    """

    study: str
    trials: int
    attempts: int
    ended: int
    from_spools: int
    lost: tuple[str, ...]
    differences: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One attempt of the new book; its points are there before the step `points`."""

    outcome: Outcome | None
    points: float
    lost: tuple[str, ...]
    differences: tuple[str, ...] = ()
    has_files: bool = False
    was_read: bool = False

    @property
    def ended(self) -> bool:
        """Whether somebody has said how."""
        return self.outcome is not None and self.outcome not in (LOST_POINTS, LOST_ENDING)


@dataclass(frozen=True, slots=True)
class _Trial:
    """One trial of the new book, which lacks it if it has no attempts."""

    number: int
    attempts: tuple[_Attempt, ...]
    lost: tuple[str, ...]
    points: Mapping[int, float]
    beyond: tuple[Path, ...] = ()

    @property
    def is_over(self) -> bool:
        return bool(self.attempts) and lost_points.is_over(self.attempts[-1].outcome)

    @property
    def may_have_later(self) -> bool:
        """Whether a further attempt may have followed, of which nothing is left."""
        return bool(self.attempts) and self.attempts[-1].ended and not self.is_over


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
                done = _study(connection, key, study, kept, folder, left, tell)
                made.append(replace(done, differences=(*changed.get(key, ()), *done.differences)))
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
    left: Remains,
    tell: Tell,
) -> Recovered:
    trials = []
    for number in sorted({*kept, *(numbered(folder) if folder else ())}):
        place = folder / str(number) if folder else None
        told = dict(_told(place, study.name, tell)) if place else {}
        trial = _trial(connection, key, study.name, number, kept.get(number), told)
        trials.append(_with_beyond(trial, told, place, doubtful=left.doubtful_trials))
    made = [trial for trial in trials if trial.attempts]
    attempts = [attempt for trial in made for attempt in trial.attempts]
    # A gap among those that were made, unless it is known what was there.
    gone = {*range(1, max((t.number for t in made), default=0) + 1)} - {
        trial.number for trial in trials if trial.attempts or trial.lost
    }
    return Recovered(
        study.name,
        trials=len(made),
        attempts=len(attempts),
        ended=sum(attempt.ended for attempt in attempts),
        from_spools=sum(attempt.was_read for attempt in attempts),
        lost=(
            *(line for trial in trials for line in trial.lost),
            *_in_words(sorted(gone), "nothing was found"),
            *_doubts(made, left),
        ),
        differences=tuple(line for attempt in attempts for line in attempt.differences),
        beyond=tuple(str(path) for trial in trials for path in trial.beyond),
    )


def _in_words(trials: Sequence[int], what: str) -> Iterator[str]:
    if trials:
        one = "trial" if len(trials) == 1 else "trials"
        yield f"{one} {listed([str(number) for number in trials], 20)}: {what}"


def _doubts(trials: Sequence[_Trial], left: Remains) -> Iterator[str]:
    """What rows that cannot be read may have held: the files of attempts fill most holes."""
    attempts = [attempt for trial in trials for attempt in trial.attempts]
    if not all(attempt.has_files for attempt in attempts) or not attempts:
        if left.doubtful_trials:
            yield "perhaps more trials: rows of the book cannot be read"
        if left.doubtful_points:
            yield "perhaps points of trials whose files are gone"
    elif left.doubtful_trials:
        # What has ended for good is followed by nothing; what has not, perhaps was.
        open_ended = [t.number for t in trials if t.may_have_later and not t.lost]
        what = "perhaps later attempts, if their folders are gone: rows of the book cannot be read"
        yield from _in_words(open_ended, what)


def _told(place: Path, study: str, tell: Tell) -> Iterator[tuple[int, Story | Untold]]:
    for number in numbered(place):
        story = tell(place / str(number))
        if isinstance(story, Story) and story.attempt.trial.study != study:
            yield number, Untold(f"attempt.json is that of the study {story.attempt.trial.study}")
        elif story is not None:
            yield number, story


def _trial(
    connection: Connection,
    key: int,
    study: str,
    number: int,
    kept: KeptTrial | None,
    told: Mapping[int, Story | Untold],
) -> _Trial:
    """The attempts of one trial, made in their order: each ends before the next one begins."""
    known = kept.attempts if kept is not None else {}
    stories = {n: story for n, story in told.items() if isinstance(story, Story)}
    numbers = sorted({*known, *told})
    points: dict[int, float] = {}
    attempts: list[_Attempt] = []
    lost: list[str] = []
    if known or stories:
        trial, changed = _content(kept, stories, study)
        trial_key = insert_trial(connection, key, number, trial)[0]
    for each in numbers:
        story = told[each] if each not in known else stories.get(each)
        if isinstance(story, Untold):
            points[each] = NONE
            lost.append(f"trial {number}, attempt {each}: {story.why}")
            continue
        later = each < numbers[-1]
        made = _attempt(
            connection, key, trial_key, trial, known.get(each), story, points, later=later
        )
        attempts.append(replace(made, differences=(*changed, *made.differences)))
        changed = ()
        points[each] = made.points
        lost += made.lost
    lost += _gaps(number, numbers, {*known, *stories})
    return _Trial(number, tuple(attempts), tuple(lost), points)


def _with_beyond(
    trial: _Trial, told: Mapping[int, Story | Untold], place: Path | None, *, doubtful: bool
) -> _Trial:
    """A trial with what no further attempt may go on from."""
    alive = any(isinstance(story, Story) and story.alive for story in told.values())
    if place is None or trial.is_over or alive:
        return trial
    lacks = not trial.attempts or lost_points.any_lost(trial.points)
    if not lacks and not (doubtful and trial.may_have_later):
        return trial
    beyond = tuple(lost_points.beyond(place, trial.points))
    lost = trial.lost
    if beyond and not trial.attempts and not lost:
        lost = (f"trial {trial.number}: nothing was found but what it had saved",)
    return replace(trial, lost=lost, beyond=beyond)


def _gaps(trial: int, numbers: Sequence[int], made: Set[int]) -> Iterator[str]:
    """The attempts of which nothing was found, though there are later ones."""
    gone = sorted({*range(1, max(made, default=0))} - {*numbers})
    if gone:
        one = "attempt" if len(gone) == 1 else "attempts"
        yield f"trial {trial}, {one} {listed([str(n) for n in gone], 20)}: nothing was found"


def _content(
    kept: KeptTrial | None, stories: Mapping[int, Story], study: str
) -> tuple[Trial, tuple[str, ...]]:
    """What a trial is, and what the old book said otherwise of it."""
    known = kept.attempts if kept is not None else {}
    # A folder that is another attempt's says nothing of this trial.
    own = [
        story.attempt.trial
        for number, story in stories.items()
        if number not in known or known[number].row["token"] == story.attempt.token
    ]
    if own:
        trial = own[0]
    else:
        assert kept is not None, "an attempt is known to the book or by its folder"
        trial = kept.trial
    trial = replace(trial, study=study)
    return trial, tuple(comparing.of_trial(kept.trial, trial)) if kept is not None else ()


def _attempt(
    connection: Connection,
    key: int,
    trial_key: int,
    trial: Trial,
    kept: KeptAttempt | None,
    story: Story | None,
    points: Mapping[int, float],
    *,
    later: bool,
) -> _Attempt:
    changed: tuple[str, ...] = ()
    copied = False
    if kept is not None:
        attempt = kept.attempt(trial)
        if story is not None and story.attempt.token != attempt.token:
            story = None  # the folder is another attempt's
        if story is not None:
            changed = tuple(
                comparing.of_attempt(trial.number, attempt.number, kept.code, kept.outcome, story)
            )
        copied = _copy(connection, trial_key, kept, story)
    else:
        assert story is not None, "an attempt is known to the book or by its folder"
        attempt = story.attempt
        insert_attempt(connection, key, attempt)
    broken = story is not None and (is_lost(story, later=later) or _is_cut(kept, story))
    judged = _judged(attempt, kept, story, points, copied=copied, broken=broken, later=later)
    for event in story.events if story is not None else ():
        # An ending without its points is none.
        if not isinstance(event, Finished) or judged.outcome != LOST_POINTS:
            append_event(connection, event)
    if judged.outcome is not None:
        # What has ended stays as it ended: a second ending is refused.
        seconds = float(kept.row["seconds"]) if kept is not None else 0.0
        append_event(connection, Finished(attempt, judged.outcome, seconds))
    read = story is not None and bool(story.events) and not broken
    return replace(judged, differences=changed, has_files=story is not None, was_read=read)


def _judged(
    attempt: Attempt,
    kept: KeptAttempt | None,
    story: Story | None,
    points: Mapping[int, float],
    *,
    copied: bool,
    broken: bool,
    later: bool,
) -> _Attempt:
    """How an attempt ended, as far as somebody says so and its points are there."""
    trial, number = attempt.trial.number, attempt.number
    events = story.events if story is not None else ()
    last_step = max(lost_points.last_step(events), kept.row["last_step"] if kept else -1)
    if kept is not None and kept.outcome == LOST_POINTS:
        return _Attempt(LOST_POINTS, last_step, ())  # told when the book was recovered before
    if kept is not None and kept.broken and copied:
        return _Attempt(LOST_POINTS, NONE, (f"trial {trial}: points of attempt {number}",))
    source = lost_points.went_on_from(events) or _source(kept)
    if source is not None and lost_points.is_hollow(number, source, points):
        line = f"trial {trial}: points of attempt {source[0]}, from which attempt {number} went on"
        return _Attempt(LOST_POINTS, NONE, (line,))
    if kept is not None and kept.outcome is not None:
        return _Attempt(kept.outcome, ALL, ())
    if story is not None and broken:
        line = f"trial {trial}, attempt {number}: its records from byte {story.end} on"
        return _Attempt(LOST_POINTS, last_step, (line,))
    how = f"trial {trial}: how attempt {number} ended"
    if story is not None and story.after is After.UNKNOWN and kept is None:
        return _Attempt(LOST_ENDING, last_step, (f"{how}, unless it was killed",))
    if story is not None and (said := own_ending(story)) is not None:
        return _Attempt(said, ALL, ())
    if later or (kept is not None and kept.unended):
        return _Attempt(LOST_ENDING, ALL, (how,))
    return _Attempt(None, ALL, ())


def _source(kept: KeptAttempt | None) -> tuple[int, int] | None:
    if kept is None or kept.row["source"] is None or kept.row["resumed_at"] is None:
        return None
    return kept.row["source"], kept.row["resumed_at"]


def _is_cut(kept: KeptAttempt | None, story: Story) -> bool:
    """Whether the book has read further in a spool than it reaches now."""
    if kept is None or story.alive or story.ended:
        return False
    return bool(story.end < kept.row["offset"])


def _copy(connection: Connection, trial_key: int, kept: KeptAttempt, story: Story | None) -> bool:
    """An attempt as the book knew it; with its points, and True, where the spool has fewer."""
    row = kept.row
    told = max((event.offset for event in _logged(story)), default=0)
    copied = story is None or (told < row["offset"] and not story.ended)
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
