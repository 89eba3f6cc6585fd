"""Attempts that a book has lost are taken in from the folders they have left."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from contracts import oracle
from contracts.store_contract import CODE, COMPLETE, CRASHED, STUDY, logged, proposal
from tunebook.core.events import Event, Finished, Resumed
from tunebook.core.trials import Attempt, Outcome
from tunebook.storage.lost_points import LOST_POINTS
from tunebook.storage.restoring import LOST_ENDING, After, Story, Untold
from tunebook.storage.sqlite import open_store


class Disk:
    """The stories that folders tell."""

    def __init__(self) -> None:
        self.stories: dict[Path, Story | Untold] = {}

    def add(self, attempt: Attempt, events: Iterable[Event], after: After = After.NOTHING) -> Story:
        story = Story(attempt, tuple(events), after=after)
        self.stories[Path(attempt.folder)] = story
        return story

    def tell(self, folder: Path) -> Story | Untold | None:
        return self.stories.get(folder)


def lose_book(folder: Path) -> None:
    for path in folder.glob("book.db*"):
        path.unlink()


def test_what_was_lost_is_taken_in_and_the_last_attempt_stays_open(tmp_path: Path) -> None:
    disk = Disk()
    with open_store(tmp_path) as store:
        store.create(STUDY)
        first = store.claim("depth", proposal(0), CODE)
        store.append(Finished(first, CRASHED, 1.0))
        second = store.claim("depth", proposal(0), CODE)
        other = store.claim("depth", proposal(1), CODE)
    disk.add(first, [logged(first, [1, 2], 10)])
    said = disk.add(second, [logged(second, [3], 10), Finished(second, COMPLETE, 2.0)])
    disk.add(other, [])
    lose_book(tmp_path)
    with open_store(tmp_path) as store:
        store.create(STUDY)
        taken = store.take_in("depth", disk.tell)
        assert [(a.trial.number, a.number) for a in taken] == [(1, 1), (1, 2), (2, 1)]
        results = store.results("depth")
        assert [a.outcome for a in results[1].attempts] == [LOST_ENDING, None]
        assert results[1].attempts[1].token == second.token
        assert results[1].trial.config == first.trial.config
        # Whoever runs the study reads the spool of what is open.
        assert all(store.append(event) for event in said.events)
        assert store.take_in("depth", disk.tell) == ()
    oracle.check(tmp_path)


def test_an_attempt_before_a_lost_one_is_ended_first(tmp_path: Path) -> None:
    disk = Disk()
    with open_store(tmp_path) as store:
        store.create(STUDY)
        first = store.claim("depth", proposal(0), CODE)
        second = Attempt(first.trial, 2, "other token", first.folder[:-1] + "2")
        Path(second.folder).mkdir()
        disk.add(first, [logged(first, [1], 10), Finished(first, CRASHED, 1.0)])
        disk.add(second, [])
        assert store.take_in("depth", disk.tell) == (second,)
        assert [a.outcome for a in store.results("depth")[1].attempts] == [CRASHED, None]
    oracle.check(tmp_path)


def test_what_the_book_has_given_to_others_stays_theirs(tmp_path: Path) -> None:
    disk = Disk()
    with open_store(tmp_path) as store:
        store.create(STUDY)
        lost = store.claim("depth", proposal(7), CODE)
        Path(lost.folder, "spool").touch()
    lose_book(tmp_path)
    with open_store(tmp_path) as store:
        store.create(STUDY)
        mine = store.claim("depth", proposal(0), CODE)
        # The number is the same, the folder is not: what lay there is kept under another name.
        assert mine.folder == lost.folder
        assert list(Path(mine.folder).iterdir()) == []
        assert len(list(Path(mine.folder).parent.glob("1.lost-*/spool"))) == 1
        second = Attempt(lost.trial, 2, "t", mine.folder[:-1] + "2")
        Path(second.folder).mkdir()
        disk.add(second, [])
        assert store.take_in("depth", disk.tell) == ()
        again = Attempt(mine.trial, 2, mine.token, second.folder)
        disk.add(again, [])
        assert store.take_in("depth", disk.tell) == ()
    oracle.check(tmp_path)


class Lost:
    """A trial of two attempts, the second complete and with a checkpoint; the book is lost."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk = Disk()
        with open_store(folder) as store:
            store.create(STUDY)
            self.first = store.claim("depth", proposal(0), CODE)
            store.append(Finished(self.first, CRASHED, 1.0))
            self.second = store.claim("depth", proposal(0), CODE)
        lose_book(folder)
        self.place = Path(self.first.folder).parent
        (Path(self.second.folder) / "checkpoints" / "3").mkdir(parents=True)
        (self.place / "files").mkdir()
        (self.place / "files" / "state").touch()
        self.disk.add(
            self.first, [logged(self.first, [1, 2], 10), Finished(self.first, CRASHED, 1)]
        )
        self.went_on = (Resumed(self.second, 1, 2), logged(self.second, [3], 10))
        self.disk.add(self.second, [*self.went_on, Finished(self.second, COMPLETE, 2.0)])

    def take_in(self) -> list[Outcome | None]:
        """How the attempts ended that were taken in."""
        with open_store(self.folder) as store:
            store.create(STUDY)
            store.take_in("depth", self.disk.tell)
            results = store.results("depth")
        return [a.outcome for a in results[1].attempts] if len(results) else []

    def aside(self) -> list[str]:
        found = self.place.rglob("*.lost-*")
        return sorted(str(path.relative_to(self.place)).split(".lost")[0] for path in found)


def test_where_nothing_is_lost_nothing_is_put_aside(tmp_path: Path) -> None:
    lost = Lost(tmp_path)
    assert lost.take_in() == [CRASHED, None]
    assert lost.aside() == []


def test_what_went_on_from_lost_points_is_not_taken_in_as_a_result(tmp_path: Path) -> None:
    lost = Lost(tmp_path)
    lost.disk.add(lost.first, [], After.UNKNOWN)
    assert lost.take_in() == [LOST_POINTS, LOST_POINTS]
    assert lost.aside() == ["2/checkpoints/3", "files"]


def test_a_broken_spool_ends_its_attempt(tmp_path: Path) -> None:
    lost = Lost(tmp_path)
    lost.disk.add(lost.second, lost.went_on, After.LOST)
    assert lost.take_in() == [CRASHED, LOST_POINTS]
    assert lost.aside() == ["2/checkpoints/3", "files"]


def test_a_killed_one_goes_on_from_what_it_saved(tmp_path: Path) -> None:
    lost = Lost(tmp_path)
    lost.disk.add(lost.second, lost.went_on, After.UNKNOWN)
    assert lost.take_in() == [CRASHED, None]
    assert lost.aside() == []


def test_one_that_cannot_be_read_is_not_gone_on_from(tmp_path: Path) -> None:
    lost = Lost(tmp_path)
    lost.disk.stories[Path(lost.second.folder)] = Untold("attempt.json cannot be read")
    assert lost.take_in() == [CRASHED]
    assert lost.aside() == ["2/checkpoints/3", "files"]
