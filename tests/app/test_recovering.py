"""A damaged book is told of, kept, and replaced; a whole one is left alone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from attempts import read
from contracts.store_contract import CODE, COMPLETE, STUDY, logged, proposal
from tunebook.app import recovering
from tunebook.core.errors import StoreError, StudyOwned
from tunebook.core.events import Finished
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt
from tunebook.execution import beginning, records
from tunebook.execution.spec import Spec, Terms
from tunebook.running.ownership import owned
from tunebook.storage.sqlite import open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_store(tmp_path) as store:
        store.create(STUDY)
        attempt = store.claim("depth", proposal(), CODE)
        write(attempt)
        for event in read(Spec(attempt, Terms.of(STUDY))):
            store.append(event)
    return tmp_path


def write(attempt: Attempt) -> None:
    """The files of an attempt that has ended."""
    spec = Spec(attempt, Terms.of(STUDY))
    spec.write()
    beginning.write(spec, records.started("here", 7))
    beginning.write(spec, records.points(logged(attempt, [1], 1).blocks))
    beginning.write(spec, records.finished(COMPLETE, 1.0))
    (spec.folder / "checkpoints" / "1").mkdir(parents=True)


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


def test_files_that_are_gone_are_named_and_nothing_is_claimed_of_them(folder: Path) -> None:
    place = folder / "studies" / "1" / "1" / "1"
    (place / "spool").write_bytes(b"rubbish" * 99)
    found = recovering.check(folder)
    assert found.is_whole
    assert recovering.text(found) == (
        f"{folder}/book.db is whole: every page, key and value can be read.\n"
        "It could not be compared with all files beside it. Those of 1 of 1 attempt are gone or "
        "damaged, and the book alone has what they held:\n"
        "  depth: trial 1, attempt 1: its records from byte 0 on are gone or cannot be read"
    )
    shutil.rmtree(folder / "studies")
    found = recovering.recover(folder)
    assert found.is_whole
    assert recovering.data(found)["compared"] == {
        "attempts": 1,
        "uncompared": 1,
        "gone": (
            "depth: its own file, study.json, is gone or cannot be read",
            "depth: trial 1, attempt 1: its files are gone",
        ),
        "differences": (),
    }
    assert not list(folder.glob("*.damaged-*"))


def test_those_that_are_there_say_the_same(folder: Path) -> None:
    with open_store(folder) as store:
        attempt = store.claim("depth", proposal(1), CODE)
        store.append(logged(attempt, [1], 1))
        store.append(Finished(attempt, COMPLETE, 1.0))
    told = recovering.text(recovering.check(folder))
    assert "Those of 1 of 2 attempts are gone or damaged" in told
    assert told.endswith(
        "\n  depth: trial 2, attempt 1: its files are gone\nThe others say the same."
    )


def test_a_damaged_book_is_kept_and_made_anew_from_the_files(folder: Path) -> None:
    damage(folder)
    looked = recovering.check(folder)
    assert recovering.text(looked).endswith(
        f"Nothing was changed. To make a new book: tunebook recover --dir {folder}"
    )
    done = recovering.recover(folder)
    assert done.is_whole
    assert done.kept is not None
    assert Path(done.kept).read_bytes() == b"no book " * 4096
    assert recovering.text(done).endswith(
        "  depth: 1 trial, 1 attempt (1 ended; 1 read from their own spools)\n"
        "Nothing is known to be lost. (Rows of the book cannot be read: a trial whose folder is "
        "gone, too, would leave no trace.)"
    )
    assert recovering.data(done)["studies"][0]["study"] == "depth"
    assert recovering.check(folder).is_whole


def test_where_all_rows_are_read_nothing_was_lost(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "book.db")) as book:
        book.execute("INSERT INTO notes (attempt, text) VALUES (99, 'of nobody')")
        book.commit()
    assert recovering.text(recovering.recover(folder)).endswith("\nNothing was lost.")


def test_what_is_lost_is_told_and_what_lies_beyond_it_put_aside(folder: Path) -> None:
    damage(folder)
    place = folder / "studies" / "1" / "1" / "1"
    (place / "attempt.json").write_text("x")
    done = recovering.recover(folder)
    assert not done.is_whole
    (aside,) = (place / "checkpoints").iterdir()
    assert aside.name.startswith("1.lost-")
    assert recovering.text(done).endswith(
        "  depth: 0 trials, 0 attempts (0 ended; 0 read from their own spools)\n"
        "    lost: trial 1, attempt 1: attempt.json cannot be read\n"
        "    lost: perhaps more trials: rows of the book cannot be read\n"
        "    lost: perhaps points of trials whose files are gone\n"
        f"    put aside, as points before it are or may be lost: {aside}\n"
        f"What was lost is run again by: tunebook run FILE --dir {folder}\n"
        "To go on from what was put aside all the same, give it its old name first."
    )
    assert recovering.check(folder).is_whole


@pytest.mark.parametrize(
    ("statement", "what"),
    [("VACUUM", "is empty"), ("CREATE TABLE a (b)", "is a database, but not a book of tunebook")],
)
def test_what_was_never_a_book_is_left_alone_unless_there_are_files(
    folder: Path, tmp_path: Path, statement: str, what: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with closing(sqlite3.connect(other / "book.db")) as connection:
        connection.execute(statement)
    before = (other / "book.db").read_bytes()
    for way in (recovering.check, recovering.recover):
        with pytest.raises(StoreError) as refusal:
            way(other)
        assert str(refusal.value) == (
            f"{other}/book.db {what}, and there are no files of attempts to make a book from; "
            "choose another folder with `--dir`"
        )
    assert [path.name for path in other.iterdir()] == ["book.db"]
    assert (other / "book.db").read_bytes() == before
    (folder / "book.db").write_bytes(before)
    assert recovering.check(folder).flaws == (f"it {what}, but the files of attempts are there",)
    done = recovering.recover(folder)
    assert done.is_whole
    assert [study.attempts for study in done.studies or ()] == [1]


def test_nothing_can_be_made_from_nothing(tmp_path: Path) -> None:
    damage(tmp_path)
    done = recovering.recover(tmp_path)
    assert not done.is_whole
    assert recovering.text(done).endswith(
        f"It is kept as {done.kept}. The new book is empty: nothing could be read, and no files "
        "are there."
    )


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
