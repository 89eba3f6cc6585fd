"""A damaged book is told of, kept, and replaced; a whole one is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.app import recovering
from tunebook.core.errors import StoreError, StudyOwned
from tunebook.core.events import Finished
from tunebook.running.ownership import owned
from tunebook.storage.sqlite import open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        store.append(logged(attempt, [1], 1))
        store.append(Finished(attempt, COMPLETE, 1.0))
    return tmp_path


def damage(folder: Path) -> None:
    (folder / "book.db").write_bytes(b"no book " * 4096)


def test_a_whole_book_is_left_alone(folder: Path) -> None:
    found = recovering.recover(folder)
    assert found == recovering.check(folder)
    assert found.is_whole
    assert recovering.text(found).endswith("is whole: every page, key and value can be read.")
    assert not list(folder.glob("*.damaged-*"))


def test_a_damaged_book_is_kept_and_what_is_lost_is_told(folder: Path) -> None:
    damage(folder)
    looked = recovering.check(folder)
    assert recovering.text(looked).endswith(
        "Nothing was changed. To make a new book: tunebook recover"
    )
    done = recovering.recover(folder)
    assert not done.is_whole
    assert done.kept is not None
    assert Path(done.kept).read_bytes() == b"no book " * 4096
    assert "lost: perhaps more trials: rows of the book cannot be read" in recovering.text(done)
    assert recovering.data(done)["studies"][0]["study"] == "depth"
    assert recovering.check(folder).is_whole


def test_a_book_in_use_is_refused(folder: Path) -> None:
    damage(folder)
    with owned(folder, "depth"), pytest.raises(StudyOwned, match="then recover"):
        recovering.recover(folder)


def test_a_missing_book_is_made_from_files_and_nothing_from_nothing(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "book.db").unlink()
    assert recovering.recover(folder).kept is None
    with pytest.raises(StoreError, match="nor files of one"):
        recovering.check(tmp_path / "empty")
