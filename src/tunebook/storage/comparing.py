"""Whether a book says the same as the files of its attempts: each thing that is kept twice.

A digit that was flipped within a page leaves a book that can be read, and that says something
else. An attempt's own file says which configuration it was given, and its spool how it ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sqlalchemy import select

from tunebook.core.codec import dumps
from tunebook.core.events import Finished
from tunebook.core.study import Study
from tunebook.core.trials import Code, Outcome, Trial
from tunebook.storage import schema
from tunebook.storage.connections import open_engine
from tunebook.storage.definitions import Shelf
from tunebook.storage.reading import read_results
from tunebook.storage.restoring import Story, Tell

# Where a whole page says something else there are many: the first few are enough.
_MOST = 20
_OF_TRIAL = ("setting", "seed", "origin")


def differences(book: Path, shelf: Shelf, tell: Tell) -> tuple[str, ...]:
    """What a book that can be read says otherwise than the files beside it; it is only read."""
    return tuple(islice(_of_book(book, shelf, tell), _MOST))


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
    if outcome is not None and endings and outcome not in endings:
        yield (
            f"{where}: it ended {_in_words(outcome)} by the book, and {_in_words(endings[0])} "
            "by its own spool"
        )


def _of_book(book: Path, shelf: Shelf, tell: Tell) -> Iterator[str]:
    engine = open_engine(book, readonly=True)
    try:
        with engine.begin() as connection:
            keys = connection.execute(
                select(schema.studies.c.id, schema.studies.c.name).order_by(schema.studies.c.id)
            ).all()
            own = shelf.read()
            for key, name in keys:
                if shelf.is_foreign(key):
                    continue
                results = read_results(connection, shelf.root, name, metrics=())
                if key in own and own[key].name == name:
                    yield from (f"{name}: {line}" for line in of_study(results.study, own[key]))
                for record in results:
                    for attempt in record.attempts:
                        story = tell(Path(attempt.folder))
                        # Another attempt's folder says nothing of this one.
                        if story is None or story.attempt.token != attempt.token:
                            continue
                        number = record.trial.number
                        lines = (
                            *of_trial(record.trial, story.attempt.trial),
                            *of_attempt(
                                number, attempt.number, attempt.code, attempt.outcome, story
                            ),
                        )
                        yield from (f"{name}: {line}" for line in lines)
    finally:
        engine.dispose()


def _names(known: Trial, own: Trial) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known.config, *own.config]))


def _written(value: object) -> str:
    """A value as it is kept: 1, 1.0 and true differ."""
    return dumps(value)


def _in_words(outcome: Outcome) -> str:
    return f"{outcome.kind} ({outcome.reason})"
