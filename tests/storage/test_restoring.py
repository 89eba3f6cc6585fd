"""Attempts that a book has lost are taken in from the folders they have left."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from contracts import oracle
from contracts.store_contract import CODE, COMPLETE, CRASHED, STUDY, logged, proposal
from tunebook.core.events import Event, Finished
from tunebook.core.trials import Attempt
from tunebook.storage.restoring import LOST_ENDING, Story, numbered
from tunebook.storage.sqlite import open_store


class Disk:
    """The stories that folders tell."""

    def __init__(self) -> None:
        self.stories: dict[Path, Story] = {}

    def add(self, attempt: Attempt, events: Iterable[Event]) -> None:
        self.stories[Path(attempt.folder)] = Story(attempt, tuple(events))

    def tell(self, folder: Path) -> Story | None:
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
    disk.add(second, [logged(second, [3], 10), Finished(second, COMPLETE, 2.0)])
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
        assert all(store.append(event) for event in disk.stories[Path(second.folder)].events)
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


def test_numbers_of_folders(tmp_path: Path) -> None:
    for name in ("10", "9", "1.lost-ab", "files"):
        (tmp_path / name).mkdir()
    assert numbered(tmp_path) == [9, 10]
    assert numbered(tmp_path / "missing") == []
