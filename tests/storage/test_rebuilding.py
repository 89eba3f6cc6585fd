"""A new book has what the old one and the spools have together, and says what neither has."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from contracts import oracle
from contracts.store_contract import CODE, COMPLETE, CRASHED, STUDY, assert_same, logged, proposal
from tunebook.core.events import Event, Finished
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt
from tunebook.storage.definitions import Shelf
from tunebook.storage.rebuilding import LOST_POINTS, Recovered, rebuild
from tunebook.storage.remains import Remains, remains
from tunebook.storage.restoring import LOST_ENDING, Story
from tunebook.storage.salvage import Salvaged, salvage
from tunebook.storage.sqlite import open_store


class Case:
    """A book with three trials, of which the second has two attempts, and their stories."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stories: dict[Path, Story] = {}
        with open_store(folder) as store:
            store.create(STUDY)
            for index in range(3):
                attempt = store.claim("depth", proposal(index), CODE)
                if index == 1:
                    self._tell(store, attempt, [Finished(attempt, CRASHED, 1.0)])
                    attempt = store.claim("depth", proposal(index), CODE)
                ending = [Finished(attempt, COMPLETE, 2.0)]
                self._tell(store, attempt, [logged(attempt, [1, 2], 20), *ending])
            self.before = store.results("depth").trials
        self.found = salvage(folder / "book.db")

    def _tell(self, store, attempt: Attempt, events: list[Event]) -> None:  # type: ignore[no-untyped-def]
        assert all(store.append(event) for event in events)
        self.stories[Path(attempt.folder)] = Story(attempt, tuple(events))

    def without(self, **keys: int) -> Remains:
        """What remains without one row of each table named."""
        rows = {
            table: tuple(row for row in rows if row.get("id", row.get("block")) != keys.get(table))
            for table, rows in self.found.rows.items()
        }
        return remains(Salvaged(rows, dict.fromkeys(keys, 1)))

    def rebuild(self, left: Remains) -> Recovered:
        for path in self.folder.glob("book.db*"):
            path.unlink()
        made = rebuild(
            self.folder / "book.db",
            left,
            Shelf(self.folder / "studies"),
            lambda f: self.stories.get(f),
        )
        if "nothing was found" not in str(made):  # a gap is told, and stays
            oracle.check(self.folder)
        return made[0]

    def trials(self):  # type: ignore[no-untyped-def]
        with open_store(self.folder, readonly=True) as store:
            return store.results("depth").trials


def test_from_the_book_alone(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.stories.clear()
    assert case.rebuild(remains(case.found)) == Recovered("depth", 3, 4, 4, 0, ())
    assert_same(case.trials(), case.before)


def test_from_the_spools_alone(tmp_path: Path) -> None:
    case = Case(tmp_path)
    assert case.rebuild(Remains()) == Recovered("depth", 3, 4, 4, 4, ())
    assert [record.status for record in case.trials()] == ["complete"] * 3
    for now, before in zip(case.trials(), case.before, strict=True):
        assert now.trial == before.trial
        assert now.curves["error"].values.tolist() == before.curves["error"].values.tolist()


def test_what_one_lacks_the_other_has(tmp_path: Path) -> None:
    case = Case(tmp_path)
    gone = [folder for folder in case.stories if folder.parent.name == "1"]
    case.stories.pop(gone[0])
    made = case.rebuild(case.without(trials=3, attempts=2))
    assert (made.trials, made.attempts, made.ended, made.from_spools) == (3, 4, 4, 3)
    assert made.lost == ("perhaps more trials: rows of the book cannot be read",)
    assert [record.status for record in case.trials()] == ["complete"] * 3


def test_a_trial_without_its_points_is_to_be_run_again(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.stories.clear()
    made = case.rebuild(case.without(blocks=1))
    assert made.lost == (
        "trial 1: points of attempt 1",
        "perhaps points of trials whose files are gone",
    )
    assert case.trials()[0].outcome == LOST_POINTS


def test_gaps_and_endings_are_told(tmp_path: Path) -> None:
    case = Case(tmp_path)
    for folder in list(case.stories):
        if folder.parent.name == "1":
            del case.stories[folder]
            shutil.rmtree(folder.parent)
        elif folder.parent.name == "2" and folder.name == "1":
            case.stories[folder] = Story(case.stories[folder].attempt, ())
    made = case.rebuild(Remains())
    assert made.lost == (
        "trial 2: how attempt 1 ended",
        "trial 1: nothing was found",
    )


def test_a_study_without_a_definition_is_told(tmp_path: Path) -> None:
    case = Case(tmp_path)
    (tmp_path / "studies" / "1" / "study.json").unlink()
    (tmp_path / "book.db").unlink()
    (made,) = rebuild(
        tmp_path / "book.db", Remains(), Shelf(tmp_path / "studies"), case.stories.get
    )
    assert made.lost == ("trials 1 to 3: the study's definition was found nowhere",)


def test_the_attempts_of_another_book_are_not_used(tmp_path: Path) -> None:
    case = Case(tmp_path)
    Shelf(tmp_path / "studies", "other").write(1, STUDY)
    shelf = Shelf(tmp_path / "studies", "this")
    (tmp_path / "book.db").unlink()
    assert rebuild(tmp_path / "book.db", Remains(), shelf, case.stories.get) == ()
    (tmp_path / "book.db").unlink()
    (made,) = rebuild(tmp_path / "book.db", remains(case.found), shelf, case.stories.get)
    assert made == Recovered("depth", 3, 4, 4, 0, ())
    assert_same(case.trials(), case.before)


def test_a_folder_of_another_attempt_is_not_used(tmp_path: Path) -> None:
    case = Case(tmp_path)
    for folder, story in case.stories.items():
        other = Attempt(story.attempt.trial, story.attempt.number, "other", story.attempt.folder)
        case.stories[folder] = Story(other, ())
    assert case.rebuild(remains(case.found)).from_spools == 0
    assert_same(case.trials(), case.before)


def test_a_configuration_is_taken_from_the_attempts_own_file_and_the_difference_told(
    tmp_path: Path,
) -> None:
    case = Case(tmp_path)
    left = changed_remains(case, '"learning_rate":0.0001', '"learning_rate":0.0007')
    made = case.rebuild(left)
    assert made.lost == ()
    assert made.differences == (
        "trial 1: learning_rate is 0.0007 in the book, and 0.0001 in the attempt's own file",
    )
    assert [record.trial for record in case.trials()] == [record.trial for record in case.before]


def test_without_its_file_a_configuration_is_the_books(tmp_path: Path) -> None:
    case = Case(tmp_path)
    left = changed_remains(case, '"learning_rate":0.0001', '"learning_rate":0.0007')
    case.stories.clear()
    assert case.rebuild(left).differences == ()
    assert case.trials()[0].trial.config["learning_rate"] == 0.0007


def test_a_definition_is_taken_from_its_own_file(tmp_path: Path) -> None:
    case = Case(tmp_path)
    left = replace(remains(case.found), studies={1: replace(STUDY, budget=Budget(900))})
    (line,) = case.rebuild(left).differences
    assert line.startswith("the study's definition, from the book to its own file: ~ budget: ")
    with open_store(tmp_path, readonly=True) as store:
        assert store.studies() == (STUDY,)


def test_an_ending_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.stories.clear()
    rows = [{**row, "outcome": b"\xff"} for row in case.found.rows["attempts"][-1:]]
    attempts = (*case.found.rows["attempts"][:-1], *rows)
    left = remains(Salvaged({**case.found.rows, "attempts": attempts}, {}))
    made = case.rebuild(left)
    assert made.lost == ("trial 3: how attempt 1 ended",)
    assert case.trials()[2].outcome == LOST_ENDING


def changed_remains(case: Case, before: str, after: str) -> Remains:
    """What remains of a book in which a digit of the first trial was flipped."""
    first, *others = case.found.rows["trials"]
    assert before in first["spec"]
    flipped = {**first, "spec": first["spec"].replace(before, after)}
    return remains(Salvaged({**case.found.rows, "trials": (flipped, *others)}, {}))
