"""A damaged book is told of, kept, and replaced; a whole one is left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.app import recovering
from tunebook.core.errors import StoreError, StudyOwned
from tunebook.core.events import Finished
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt
from tunebook.execution.spec import Spec, Terms
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
    assert recovering.text(found).endswith(
        "is whole: every page, key and value can be read, and the files of its attempts say the "
        "same."
    )
    assert not list(folder.glob("*.damaged-*"))


def test_a_damaged_book_is_kept_and_what_is_lost_is_told(folder: Path) -> None:
    damage(folder)
    looked = recovering.check(folder)
    assert recovering.text(looked).endswith(
        f"Nothing was changed. To make a new book: tunebook recover --dir {folder}"
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


@pytest.mark.parametrize("has_book", [False, True])
def test_of_two_studies_of_one_name_the_later_is_kept_and_the_other_told(
    folder: Path, has_book: bool
) -> None:
    """A book was removed, and its study run again with another space."""
    (folder / "book.db").unlink()
    changed = replace(STUDY, budget=Budget(900))
    with open_store(folder) as store:
        store.create(changed)
    if has_book:
        with closing(sqlite3.connect(folder / "book.db")) as book:
            book.execute("INSERT INTO notes (attempt, text) VALUES (99, 'of nobody')")
            book.commit()
    else:
        (folder / "book.db").unlink()
    done = recovering.recover(folder)
    told = recovering.text(done)
    place = folder / "studies" / "1"
    assert f"lost: trials 1 to 1: a later study is called depth, too; they stay in {place}" in told
    assert [study.study for study in done.studies or ()] == ["depth", "study 1"]
    with open_store(folder, readonly=True) as store:
        assert store.studies() == (changed,)
    assert (place / "1").is_dir()


def test_a_flipped_digit_is_found_and_mended_from_the_attempts_own_file(folder: Path) -> None:
    with open_store(folder, readonly=True) as store:
        (record,) = store.results("depth")
    attempt = Attempt(record.trial, 1, record.attempts[0].token, record.attempts[0].folder)
    Spec(attempt, Terms.of(STUDY)).write()
    assert recovering.check(folder).is_whole
    with closing(sqlite3.connect(folder / "book.db")) as book:
        text = ('"learning_rate":0.0001', '"learning_rate":0.0009')
        book.execute("UPDATE trials SET spec = replace(spec, ?, ?)", text)
        book.commit()
    line = "trial 1: learning_rate is 0.0009 in the book, and 0.0001 in the attempt's own file"
    found = recovering.check(folder)
    assert not found.is_whole
    assert found.flaws == (f"depth: {line}",)
    done = recovering.recover(folder)
    told = recovering.text(done)
    assert f"    the files count: {line}\n" in told
    assert told.endswith("What the book said otherwise than the files is told above: look at it.")
    assert recovering.check(folder).is_whole
    with open_store(folder, readonly=True) as store:
        assert store.results("depth")[1].trial == record.trial
