"""Whether a book says the same as the files of its attempts: each thing that is kept twice.

A digit that was flipped within a page leaves a book that can be read, and that says something
else. An attempt's own file says which configuration it was given, and its spool how it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import select

from tunebook.core.codec import dumps
from tunebook.core.events import Finished
from tunebook.core.results import AttemptRecord, Results
from tunebook.core.study import Study
from tunebook.core.trials import Code, Outcome, Trial
from tunebook.storage import schema
from tunebook.storage.connections import open_engine
from tunebook.storage.definitions import Shelf
from tunebook.storage.lost_points import LOST_POINTS
from tunebook.storage.reading import read_results
from tunebook.storage.restoring import LOST_ENDING, After, Story, Tell, Untold

# Where a whole page says something else there are many: the first few are enough.
_MOST = 20
_LOST = (LOST_POINTS, LOST_ENDING)
_OF_TRIAL = ("setting", "seed", "origin")


@dataclass(frozen=True, slots=True)
class Compared:
    """What a book says otherwise than the files beside it, and which of these cannot be read.

    Of so many attempts that have begun, `uncompared` have lost files; `gone` names the first ones.
    """

    attempts: int = 0
    uncompared: int = 0
    gone: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """One thing that was found: a difference, or what of an attempt or a study is gone."""

    text: str
    differs: bool = False
    attempts: int = 0


def compare(book: Path, shelf: Shelf, tell: Tell) -> Compared:
    """Hold a book that can be read against the files beside it; it is only read."""
    engine = open_engine(book, readonly=True)
    try:
        with engine.begin() as connection:
            query = select(schema.studies.c.id, schema.studies.c.name).order_by(schema.studies.c.id)
            own = shelf.read()
            found: list[_Line] = []
            attempts = 0
            for key, name in connection.execute(query).all():
                results = read_results(connection, shelf.root, name, metrics=())
                attempts += _begun(results)
                lines = _of_study(results, own.get(key), tell, is_foreign=shelf.is_foreign(key))
                found += (replace(line, text=f"{name}: {line.text}") for line in lines)
    finally:
        engine.dispose()
    return Compared(
        attempts=attempts,
        uncompared=sum(line.attempts for line in found),
        gone=_first(line.text for line in found if not line.differs),
        differences=_first(line.text for line in found if line.differs),
    )


def of_study(known: Study, own: Study) -> Iterator[str]:
    """How a study differs in the book and in its own file, in what may never change."""
    for line in known.difference(own):
        yield f"the study's definition, from the book to its own file: {line}"


def of_trial(known: Trial, own: Trial) -> Iterator[str]:
    """How a trial differs in the book and in the file of an attempt at it."""
    pairs = {name: (known.config.get(name), own.config.get(name)) for name in _names(known, own)}
    pairs |= {name: (getattr(known, name), getattr(own, name)) for name in _OF_TRIAL}
    for name, (here, there) in pairs.items():
        if _written(here) != _written(there):
            yield (
                f"trial {known.number}: {name} is {here!r} in the book, and {there!r} in the "
                "attempt's own file"
            )


def of_attempt(
    trial: int, number: int, code: Code, outcome: Outcome | None, story: Story
) -> Iterator[str]:
    """How an attempt differs in the book and in its own files; one may not have ended in either."""
    where = f"trial {trial}, attempt {number}"
    own = story.attempt.trial.code
    if code != own:
        yield f"{where}: its code is {code} in the book, and {own} in its own file"
    endings = [event.outcome for event in story.events if isinstance(event, Finished)]
    # What was lost is lost, whatever a spool says without it.
    settled = outcome is not None and outcome not in _LOST
    if outcome is not None and settled and endings and outcome not in endings:
        yield (
            f"{where}: it ended {_in_words(outcome)} by the book, and {_in_words(endings[0])} "
            "by its own spool"
        )


def _begun(results: Results) -> int:
    return sum(_has_begun(attempt) for record in results for attempt in record.attempts)


def _has_begun(attempt: AttemptRecord) -> bool:
    """Whether some process has taken up the attempt; others have said nothing."""
    return attempt.pid is not None or attempt.offset > 0


def _of_study(
    results: Results, own: Study | None, tell: Tell, *, is_foreign: bool
) -> Iterator[_Line]:
    name = results.study.name
    if is_foreign:
        yield _Line("its folder is another book's", attempts=_begun(results))
        return
    if own is None or own.name != name:
        yield _Line("its own file, study.json, is gone or cannot be read")
    else:
        yield from (_Line(line, differs=True) for line in of_study(results.study, own))
    for record in results:
        for attempt in record.attempts:
            yield from _of_attempt(record.trial, attempt, tell(Path(attempt.folder)))


def _of_attempt(
    trial: Trial, attempt: AttemptRecord, story: Story | Untold | None
) -> Iterator[_Line]:
    gone = _gone(attempt, story) if _has_begun(attempt) else None
    if gone is not None:
        yield _Line(f"trial {trial.number}, attempt {attempt.number}: {gone}", attempts=1)
    # Another attempt's folder says nothing of this one.
    if isinstance(story, Story) and story.attempt.token == attempt.token:
        lines = (
            *of_trial(trial, story.attempt.trial),
            *of_attempt(trial.number, attempt.number, attempt.code, attempt.outcome, story),
        )
        yield from (_Line(line, differs=True) for line in lines)


def _gone(attempt: AttemptRecord, story: Story | Untold | None) -> str | None:
    """What of an attempt's files is gone or cannot be read, if anything is."""
    if story is None:
        return "its files are gone"
    if isinstance(story, Untold):
        return story.why
    if story.attempt.token != attempt.token:
        return "its folder is another attempt's"
    ended = attempt.outcome is not None and attempt.outcome not in _LOST
    cut = story.end < attempt.offset or (ended and story.after is After.UNKNOWN)
    if story.after is After.LOST or (cut and not story.alive):
        return f"its records from byte {story.end} on are gone or cannot be read"
    return None


def _first(lines: Iterable[str]) -> tuple[str, ...]:
    """The first few lines, and how many there are beyond."""
    several = tuple(lines)
    more = len(several) - _MOST
    return several if more <= 0 else (*several[:_MOST], f"and {more} more")


def _names(known: Trial, own: Trial) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known.config, *own.config]))


def _written(value: object) -> str:
    """A value as it is kept: 1, 1.0 and true differ."""
    return dumps(value)


def _in_words(outcome: Outcome) -> str:
    return f"{outcome.kind} ({outcome.reason})"
