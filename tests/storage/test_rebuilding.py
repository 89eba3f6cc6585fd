"""A new book has what the old one and the spools have together, and says what neither has."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from contracts import oracle
from contracts.store_contract import CODE, COMPLETE, CRASHED, STUDY, assert_same, logged, proposal
from tunebook.core.events import Event, Finished, Resumed
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt
from tunebook.storage.definitions import Shelf
from tunebook.storage.lost_points import LOST_POINTS
from tunebook.storage.rebuilding import Recovered, rebuild
from tunebook.storage.remains import Remains, remains
from tunebook.storage.restoring import LOST_ENDING, After, Story, Untold
from tunebook.storage.salvage import Salvaged, salvage
from tunebook.storage.sqlite import open_store

GAPS = ("nothing was found", "attempt.json")


class Case:
    """A book with three trials, of which the second has two attempts, and their stories."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stories: dict[Path, Story | Untold] = {}
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
        told = Story(attempt, tuple(events), end=30, ended=True)
        self.stories[Path(attempt.folder)] = told

    def story(self, trial: int, attempt: int = 1) -> Story:
        story = self.stories[self.place(trial, attempt)]
        assert isinstance(story, Story)
        return story

    def place(self, trial: int, attempt: int = 1) -> Path:
        return self.folder / "studies" / "1" / str(trial) / str(attempt)

    def change(self, trial: int, attempt: int = 1, **fields: object) -> None:
        changed = replace(self.story(trial, attempt), **fields)  # type: ignore[arg-type]
        self.stories[self.place(trial, attempt)] = changed

    def save(self, trial: int, attempt: int, *steps: int) -> None:
        """Checkpoints of an attempt, and something that the trial keeps."""
        for step in steps:
            (self.place(trial, attempt) / "checkpoints" / str(step)).mkdir(parents=True)
        files = self.place(trial).parent / "files"
        files.mkdir(exist_ok=True)
        (files / "state").touch()

    def beyond(self, made: Recovered) -> list[str]:
        root = self.folder / "studies" / "1"
        return [str(Path(path).relative_to(root)) for path in made.beyond]

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
        if not any(word in str(made) for word in GAPS):  # a gap is told, and stays
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
            case.change(2, 1, events=())
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
        assert isinstance(story, Story)
        other = replace(story.attempt, token="other")
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


def test_an_attempt_that_cannot_be_read_is_told_and_its_trial_not_gone_on_with(
    tmp_path: Path,
) -> None:
    case = Case(tmp_path)
    case.stories[case.place(2, 2)] = Untold("attempt.json cannot be read")
    case.save(2, 2, 1)
    made = case.rebuild(Remains())
    assert made == Recovered(
        "depth",
        3,
        3,
        3,
        3,
        ("trial 2, attempt 2: attempt.json cannot be read",),
        beyond=made.beyond,
    )
    assert case.beyond(made) == ["2/2/checkpoints/1", "2/files"]
    assert [record.status for record in case.trials()] == ["complete", "crashed", "complete"]


def test_what_the_book_knows_is_not_lost_with_a_file(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.stories[case.place(2, 2)] = Untold("attempt.json cannot be read")
    case.change(3, after=After.LOST, end=0, events=(), ended=False)
    case.save(2, 2, 1)
    made = case.rebuild(remains(case.found))
    assert made == Recovered("depth", 3, 4, 4, 2, ())
    assert_same(case.trials(), case.before)


def test_a_trial_of_which_nothing_can_be_read_is_told_once(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.stories[case.place(1)] = Untold("attempt.json is missing")
    case.save(1, 1, 1)
    made = case.rebuild(Remains())
    assert made.lost == ("trial 1, attempt 1: attempt.json is missing",)
    assert case.beyond(made) == ["1/1/checkpoints/1", "1/files"]
    assert (made.trials, made.attempts) == (2, 3)


def test_what_a_trial_saved_is_not_gone_on_from_by_another_of_its_number(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.save(3, 1)
    del case.stories[case.place(3)]
    made = case.rebuild(Remains())
    assert made.lost == ("trial 3: nothing was found but what it had saved",)
    assert case.beyond(made) == ["3/files"]


def test_a_gap_among_attempts_is_told(tmp_path: Path) -> None:
    case = Case(tmp_path)
    del case.stories[case.place(2, 1)]
    made = case.rebuild(Remains())
    assert made.lost == ("trial 2, attempt 1: nothing was found",)
    assert [record.status for record in case.trials()] == ["complete"] * 3


def test_records_that_are_lost_are_told_and_leave_no_result(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.change(3, after=After.LOST, end=20, events=case.story(3).events[:1], ended=False)
    case.save(3, 1, 1, 2)
    made = case.rebuild(Remains())
    assert made.lost == ("trial 3, attempt 1: its records from byte 20 on",)
    assert (made.attempts, made.ended, made.from_spools) == (4, 3, 3)
    # At the last step that is known, not all may have been told.
    assert case.beyond(made) == ["3/1/checkpoints/2", "3/files"]
    assert case.trials()[2].outcome == LOST_POINTS


def test_one_that_lives_is_left_alone(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.change(3, events=case.story(3).events[:1], alive=True, ended=False)
    case.save(3, 1, 1, 2)
    made = case.rebuild(Remains())
    assert (made.lost, made.beyond) == ((), ())
    assert case.trials()[2].status == "running"


def test_one_without_an_ending_was_killed_or_cut(tmp_path: Path) -> None:
    """Where the book had it as running, it was killed; where nobody knows, that is told."""
    case = Case(tmp_path)
    case.change(3, after=After.UNKNOWN, end=20, events=case.story(3).events[:1], ended=False)
    case.save(3, 1, 1, 2)
    running = [{**row, "outcome": None} for row in case.found.rows["attempts"][-1:]]
    attempts = (*case.found.rows["attempts"][:-1], *running)
    made = case.rebuild(remains(Salvaged({**case.found.rows, "attempts": attempts}, {})))
    assert (made.lost, made.beyond, made.ended) == ((), (), 3)
    assert case.trials()[2].status == "running"
    made = case.rebuild(Remains())
    assert made.lost == ("trial 3: how attempt 1 ended, unless it was killed",)
    assert case.beyond(made) == ["3/1/checkpoints/2", "3/files"]
    assert (made.ended, made.from_spools) == (3, 4)
    assert case.trials()[2].outcome == LOST_ENDING


def test_a_spool_that_the_book_has_read_further_was_cut(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.change(3, after=After.UNKNOWN, end=10, events=(), ended=False)
    running = [{**row, "outcome": None} for row in case.found.rows["attempts"][-1:]]
    attempts = (*case.found.rows["attempts"][:-1], *running)
    made = case.rebuild(remains(Salvaged({**case.found.rows, "attempts": attempts}, {})))
    assert made.lost == ("trial 3, attempt 1: its records from byte 10 on",)
    assert case.trials()[2].outcome == LOST_POINTS


def test_a_spool_with_its_ending_is_whole_whatever_the_book_says(tmp_path: Path) -> None:
    """Bytes of a row were overwritten: how the attempt ended, and how far it had been read."""
    case = Case(tmp_path)
    row = {**case.found.rows["attempts"][-1], "outcome": "x", "offset": 10**9, "last_step": 10**9}
    attempts = (*case.found.rows["attempts"][:-1], row)
    made = case.rebuild(remains(Salvaged({**case.found.rows, "attempts": attempts}, {})))
    assert made == Recovered("depth", 3, 4, 4, 4, ())
    assert case.trials()[2].status == "complete"
    assert case.trials()[2].curves["error"].steps.tolist() == [1, 2]


def test_one_before_another_has_ended_or_its_spool_was_cut(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.change(2, 1, after=After.UNKNOWN, end=10, events=(), ended=False)
    made = case.rebuild(Remains())
    assert made.lost == ("trial 2, attempt 1: its records from byte 10 on",)
    # The second began anew: its result is whole.
    assert [record.status for record in case.trials()] == ["complete"] * 3


def test_what_went_on_from_lost_points_has_no_result(tmp_path: Path) -> None:
    case = Case(tmp_path)
    second = case.story(2, 2)
    case.change(2, 2, events=(Resumed(second.attempt, 1, 1), *second.events))
    assert case.rebuild(Remains()).lost == ()
    case.change(2, 1, after=After.LOST, end=0, events=(), ended=False)
    case.save(2, 2, 2)
    made = case.rebuild(Remains())
    assert made.lost == (
        "trial 2, attempt 1: its records from byte 0 on",
        "trial 2: points of attempt 1, from which attempt 2 went on",
    )
    assert case.trials()[1].outcome == LOST_POINTS
    assert case.beyond(made) == ["2/2/checkpoints/2", "2/files"]
    # Recovered once more, it is no more than it was.
    left = remains(salvage(tmp_path / "book.db"))
    assert case.rebuild(left).lost == ()
    assert case.trials()[1].outcome == LOST_POINTS
    # The book had the same, and lost the first attempt.
    rows = case.found.rows["attempts"]
    known = tuple({**row, "source": 1, "resumed_at": 1} if row["id"] == 3 else row for row in rows)
    del case.stories[case.place(2, 1)]
    del case.stories[case.place(2, 2)]
    rest = Salvaged({**case.found.rows, "attempts": (known[0], *known[2:])}, {})
    assert "trial 2: points of attempt 1, from which attempt 2 went on" in (
        case.rebuild(remains(rest)).lost
    )
    assert case.trials()[1].outcome == LOST_POINTS


def test_later_attempts_may_be_gone_where_rows_cannot_be_read(tmp_path: Path) -> None:
    """The folder of the last attempt is gone: only a row could have told of it."""
    case = Case(tmp_path)
    case.save(2, 1, 1)
    del case.stories[case.place(2, 2)]
    assert case.rebuild(Remains()).lost == ()
    made = case.rebuild(Remains(doubtful_trials=True))
    assert made.lost == (
        "trial 2: perhaps later attempts, if their folders are gone: rows of the book cannot be "
        "read",
    )
    # The attempt's own checkpoints have its points; what the trial keeps may be another's.
    assert case.beyond(made) == ["2/files"]


def test_an_attempt_of_another_study_is_told(tmp_path: Path) -> None:
    case = Case(tmp_path)
    attempt = case.story(3).attempt
    other = replace(attempt, trial=replace(attempt.trial, study="width"))
    case.stories[case.place(3)] = replace(case.story(3), attempt=other)
    made = case.rebuild(Remains())
    assert made.lost == ("trial 3, attempt 1: attempt.json is that of the study width",)


def changed_remains(case: Case, before: str, after: str) -> Remains:
    """What remains of a book in which a digit of the first trial was flipped."""
    first, *others = case.found.rows["trials"]
    assert before in first["spec"]
    flipped = {**first, "spec": first["spec"].replace(before, after)}
    return remains(Salvaged({**case.found.rows, "trials": (flipped, *others)}, {}))
