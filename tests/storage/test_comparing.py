"""What a book says otherwise than the files of its attempts is found, and what agrees is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.core.codec import dumps
from tunebook.core.events import Finished
from tunebook.core.study import Budget
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.storage import comparing
from tunebook.storage.comparing import Compared, compare
from tunebook.storage.definitions import Shelf
from tunebook.storage.lost_points import LOST_POINTS
from tunebook.storage.restoring import LOST_ENDING, After, Story, Untold
from tunebook.storage.sqlite import open_store


class Case:
    """A book of two trials, and the stories that their folders would tell."""

    def __init__(self, folder: Path) -> None:
        self.book = folder / "book.db"
        self.shelf = Shelf(folder / "studies")
        self.stories: dict[Path, Story | Untold] = {}
        with open_store(folder) as store:
            store.create(STUDY)
            for index in range(2):
                attempt = store.claim("depth", proposal(index), CODE)
                events = (logged(attempt, [1, 2], 20), Finished(attempt, COMPLETE, 2.0))
                assert all(store.append(event) for event in events)
                self.stories[Path(attempt.folder)] = Story(attempt, events, end=30)

    def change(self, table: str, column: str, before: str, after: str) -> None:
        with closing(sqlite3.connect(self.book)) as connection:
            set_to = f"{column} = replace({column}, ?, ?)"
            connection.execute(f"UPDATE {table} SET {set_to} WHERE id = 1", (before, after))
            connection.commit()

    def compared(self) -> Compared:
        return compare(self.book, self.shelf, self.stories.get)

    def found(self) -> tuple[str, ...]:
        return self.compared().differences

    @property
    def first(self) -> Path:
        return next(iter(self.stories))

    def tell(self, **fields: object) -> None:
        """Change what the first folder tells."""
        story = self.stories[self.first]
        assert isinstance(story, Story)
        self.stories[self.first] = replace(story, **fields)  # type: ignore[arg-type]


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def test_what_agrees_is_no_difference(case: Case) -> None:
    assert case.compared() == Compared(attempts=2)


@pytest.mark.parametrize(
    ("table", "column", "before", "after", "expected"),
    [
        (
            "trials",
            "spec",
            '"learning_rate":0.0001',
            '"learning_rate":0.0007',
            "depth: trial 1: learning_rate is 0.0007 in the book, and 0.0001 in the attempt's own "
            "file",
        ),
        (
            "attempts",
            "outcome",
            "complete",
            "stopped",
            "depth: trial 1, attempt 1: it ended stopped (done) by the book, and complete (done) "
            "by its own spool",
        ),
        (
            "attempts",
            "code",
            '"abc"',
            '"abd"',
            "depth: trial 1, attempt 1: its code is abd in the book, and abc in its own file",
        ),
        (
            "studies",
            "spec",
            ":100,",
            ":900,",
            "depth: the study's definition, from the book to its own file: ~ budget: ",
        ),
    ],
)
def test_what_differs_is_told(
    case: Case, table: str, column: str, before: str, after: str, expected: str
) -> None:
    case.change(table, column, before, after)
    (line,) = case.found()
    assert line.startswith(expected)


def test_numbers_that_are_equal_are_written_differently(case: Case) -> None:
    case.change("trials", "spec", '"blocks":2', '"blocks":2.0')
    (line,) = case.found()
    assert "blocks is 2.0 in the book, and 2 in the attempt's own file" in line


def test_folders_of_others_and_those_that_are_gone_say_nothing_and_are_named(case: Case) -> None:
    case.change("trials", "spec", '"learning_rate":0.0001', '"learning_rate":0.0007')
    story = case.stories[case.first]
    assert isinstance(story, Story)
    first = case.first
    for told, why in (
        (replace(story, attempt=replace(story.attempt, token="other")), "its folder is another"),
        (Untold("attempt.json is missing"), "attempt.json is missing"),
        (None, "its files are gone"),
    ):
        compared = compare(case.book, case.shelf, {**case.stories, first: told}.get)
        assert (compared.attempts, compared.uncompared, compared.differences) == (2, 1, ())
        (line,) = compared.gone
        assert line.startswith(f"depth: trial 1, attempt 1: {why}")


@pytest.mark.parametrize(
    "told",
    [
        {"after": After.LOST, "end": 25},
        {"after": After.UNKNOWN, "end": 25},
        {"end": 19},
    ],
)
def test_a_spool_that_is_damaged_or_was_cut_is_named(case: Case, told: dict[str, object]) -> None:
    case.tell(events=(), **told)
    end = told["end"]
    assert case.compared() == Compared(
        2,
        1,
        (f"depth: trial 1, attempt 1: its records from byte {end} on are gone or cannot be read",),
    )
    # What is still being written is read later.
    case.tell(after=After.NOTHING, alive=True)
    assert case.compared() == Compared(attempts=2)


def test_one_that_the_book_has_running_may_have_been_killed(case: Case) -> None:
    with closing(sqlite3.connect(case.book)) as connection:
        connection.execute("UPDATE attempts SET outcome = NULL")
        connection.commit()
    case.tell(events=(), end=25, after=After.UNKNOWN)
    assert case.compared() == Compared(attempts=2)


def test_one_that_never_began_has_no_files_to_miss(case: Case) -> None:
    with closing(sqlite3.connect(case.book)) as connection:
        connection.execute('UPDATE attempts SET "offset" = 0 WHERE id = 1')
        connection.commit()
    del case.stories[case.first]
    assert case.compared() == Compared(attempts=1)


def test_a_study_without_its_own_file_is_named(case: Case) -> None:
    case.shelf.path(1).unlink()
    assert case.compared() == Compared(
        attempts=2, gone=("depth: its own file, study.json, is gone or cannot be read",)
    )


def test_of_many_the_first_are_named(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "_MOST", 1)
    case.stories.clear()
    assert case.compared() == Compared(
        2, 2, ("depth: trial 1, attempt 1: its files are gone", "and 1 more")
    )


@pytest.mark.parametrize("outcome", [LOST_POINTS, LOST_ENDING])
def test_what_was_lost_before_is_no_difference(case: Case, outcome: Outcome) -> None:
    """Else a recovered book would be flawed for ever."""
    with closing(sqlite3.connect(case.book)) as connection:
        connection.execute("UPDATE attempts SET outcome = ? WHERE id = 1", (dumps(outcome),))
        connection.commit()
    assert case.compared() == Compared(attempts=2)


def test_the_attempts_of_another_book_say_nothing(case: Case, tmp_path: Path) -> None:
    Shelf(tmp_path / "studies", "other").write(1, replace(STUDY, budget=Budget(7)))
    case.shelf = Shelf(tmp_path / "studies", "this")
    case.change("trials", "spec", '"learning_rate":0.0001', '"learning_rate":0.0007')
    assert case.compared() == Compared(2, 2, ("depth: its folder is another book's",))


def test_any_ending_of_the_spool_will_do(case: Case) -> None:
    """Of two endings, the book may have taken either."""
    story = case.stories[case.first]
    assert isinstance(story, Story)
    other = Finished(story.attempt, Outcome(OutcomeKind.CRASHED, "killed"), 1.0)
    case.tell(events=(other, *story.events))
    assert case.found() == ()


def test_an_attempt_that_the_book_has_not_seen_end_is_no_difference(case: Case) -> None:
    with closing(sqlite3.connect(case.book)) as connection:
        connection.execute("UPDATE attempts SET outcome = NULL")
        connection.commit()
    assert case.found() == ()
