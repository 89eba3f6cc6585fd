"""Definitions of studies are kept beside their attempts, and give a lost study its key again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contracts.store_contract import CODE, STUDY, proposal
from tunebook.core.errors import StoreError
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.storage.definitions import Shelf
from tunebook.storage.sqlite import open_store

OTHER = replace(STUDY, name="width")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "studies")
    assert shelf.read() == {}
    shelf.write(1, STUDY)
    shelf.write(3, OTHER)
    assert shelf.read() == {1: STUDY, 3: OTHER}
    assert shelf.keys() == [1, 3]


def test_the_same_is_not_written_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write(1, STUDY)
    before = shelf.path(1).stat().st_ino
    shelf.write(1, STUDY)
    assert shelf.path(1).stat().st_ino == before
    shelf.write(1, replace(STUDY, trials=99))
    assert shelf.read()[1].trials == 99


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"{}", b"[]", b'{"book":null,"study":"{\\"tunebook\\":1,\\"value\\":7}"}'],
)
def test_what_is_no_definition_is_passed_over(tmp_path: Path, content: bytes) -> None:
    shelf = Shelf(tmp_path)
    shelf.write(1, STUDY)
    shelf.path(1).write_bytes(content)
    (tmp_path / "2").mkdir()
    (tmp_path / "notes").mkdir()
    assert shelf.read() == {}
    assert shelf.keys() == [1, 2] == shelf.own_keys()


def test_a_place_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "1").touch()
    with pytest.raises(StoreError, match=r"cannot write .*study.json: File exists"):
        Shelf(tmp_path).write(1, STUDY)
    with pytest.raises(StoreError, match=r"cannot write .*1: File exists"):
        Shelf(tmp_path / "1").new_key(STUDY, set(), 0)


def test_a_lost_study_gets_its_key_again_and_another_none_that_is_in_use(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.write(4, STUDY)
    changed = replace(STUDY, space=Space(), objective=Objective(Metric("loss")))
    assert shelf.new_key(STUDY, set(), 0) == 4
    assert shelf.new_key(STUDY, {4}, 4) == 5
    # Each is made as soon as it is given.
    assert shelf.new_key(OTHER, set(), 0) == 6
    assert shelf.new_key(OTHER, {1}, 9) == 10
    assert shelf.new_key(changed, set(), 0) == 11


def test_two_who_look_at_the_same_time_get_different_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shelf, "keys", lambda _: [])
    assert [Shelf(tmp_path, book).new_key(STUDY, set(), 0) for book in "ab"] == [1, 2]


def test_what_is_another_books_stays_its_own(tmp_path: Path) -> None:
    first, second = Shelf(tmp_path, "first"), Shelf(tmp_path, "second")
    first.write(1, STUDY)
    assert second.read() == {}
    assert second.own_keys() == []
    assert second.new_key(STUDY, set(), 0) == 2
    assert first.new_key(STUDY, set(), 0) == 1
    with pytest.raises(StoreError) as refusal:
        second.write(1, STUDY)
    assert str(refusal.value) == (
        f"{tmp_path}/1 holds the attempts of another book; set TUNEBOOK_ATTEMPTS to the folder "
        "that this book has used before, or to an empty one"
    )
    # In a book's own folder all is its own, and what names no book is anybody's.
    assert Shelf(tmp_path).read() == {1: STUDY}
    Shelf(tmp_path).write(1, STUDY)
    second.write(1, STUDY)
    assert first.is_foreign(1)


def test_two_books_share_a_folder_of_attempts_and_nothing_else(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    with open_store(tmp_path / "a", attempts=shared) as store:
        store.create(STUDY)
        one = store.claim("depth", proposal(0), CODE)
    with open_store(tmp_path / "b", attempts=shared) as store:
        store.create(STUDY)
        assert store.take_in("depth", pytest.fail) == ()
        other = store.claim("depth", proposal(0), CODE)
    assert Path(one.folder) == shared / "1" / "1" / "1"
    assert Path(other.folder) == shared / "2" / "1" / "1"
    # A book whose file is lost knows its own again.
    for path in (tmp_path / "a").glob("book.db*"):
        path.unlink()
    with open_store(tmp_path / "a", attempts=shared) as store:
        store.create(STUDY)
        assert store.claim("depth", proposal(1), CODE).folder.startswith(f"{shared}/1/")
    # One that comes with a key of its own is refused.
    with open_store(tmp_path / "c") as store:
        store.create(STUDY)
    with (
        open_store(tmp_path / "c", attempts=shared) as store,
        pytest.raises(StoreError, match="holds the attempts of another book"),
    ):
        store.create(STUDY)
