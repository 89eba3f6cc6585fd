"""What a book says otherwise than the files of its attempts is found, and what agrees is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.core.events import Finished
from tunebook.core.study import Budget
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.storage.comparing import differences
from tunebook.storage.definitions import Shelf
from tunebook.storage.restoring import Story
from tunebook.storage.sqlite import open_store


class Case:
    """A book of two trials, and the stories that their folders would tell."""

    def __init__(self, folder: Path) -> None:
        self.book = folder / "book.db"
        self.shelf = Shelf(folder / "studies")
        self.stories: dict[Path, Story] = {}
        with open_store(folder) as store:
            store.create(STUDY)
            for index in range(2):
                attempt = store.claim("depth", proposal(index), CODE)
                events = (logged(attempt, [1, 2], 20), Finished(attempt, COMPLETE, 2.0))
                assert all(store.append(event) for event in events)
                self.stories[Path(attempt.folder)] = Story(attempt, events)

    def change(self, table: str, column: str, before: str, after: str) -> None:
        with closing(sqlite3.connect(self.book)) as connection:
            set_to = f"{column} = replace({column}, ?, ?)"
            connection.execute(f"UPDATE {table} SET {set_to} WHERE id = 1", (before, after))
            connection.commit()

    def found(self) -> tuple[str, ...]:
        return differences(self.book, self.shelf, self.stories.get)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def test_what_agrees_is_no_difference(case: Case) -> None:
    assert case.found() == ()


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


def test_folders_of_others_and_those_that_are_gone_say_nothing(case: Case) -> None:
    case.change("trials", "spec", '"learning_rate":0.0001', '"learning_rate":0.0007')
    first = next(iter(case.stories))
    story = case.stories[first]
    case.stories[first] = replace(story, attempt=replace(story.attempt, token="other"))
    assert case.found() == ()
    del case.stories[first]
    assert case.found() == ()


def test_the_attempts_of_another_book_say_nothing(case: Case, tmp_path: Path) -> None:
    Shelf(tmp_path / "studies", "other").write(1, replace(STUDY, budget=Budget(7)))
    case.shelf = Shelf(tmp_path / "studies", "this")
    case.change("trials", "spec", '"learning_rate":0.0001', '"learning_rate":0.0007')
    assert case.found() == ()


def test_any_ending_of_the_spool_will_do(case: Case) -> None:
    """Of two endings, the book may have taken either."""
    first = next(iter(case.stories))
    story = case.stories[first]
    other = Finished(story.attempt, Outcome(OutcomeKind.CRASHED, "killed"), 1.0)
    case.stories[first] = Story(story.attempt, (other, *story.events))
    assert case.found() == ()


def test_an_attempt_that_the_book_has_not_seen_end_is_no_difference(case: Case) -> None:
    with closing(sqlite3.connect(case.book)) as connection:
        connection.execute("UPDATE attempts SET outcome = NULL")
        connection.commit()
    assert case.found() == ()
