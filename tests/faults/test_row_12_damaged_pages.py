"""Row 12: damage is found when a book is opened, and `tunebook recover` makes it whole again.

Each result is kept twice. Where one copy is damaged the other has it; where both are, that is told,
and the trial is run again: a wrong result enters no book.
"""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from faults import damage, left_book
from faults.store_writer import TRIALS
from faults.store_writer import main as run_again
from tunebook.app import recovering
from tunebook.core.errors import StoreError
from tunebook.storage.connections import PAGE_BYTES
from tunebook.storage.sqlite import open_store

# Points that are too few to be compressed have no checksum: values and steps as they are packed.
UNGUARDED = (struct.pack("<3d", 0, 1 / 7, 2 / 7), struct.pack("<3q", 0, 1, 1))

pages = st.lists(st.integers(0, 10**6), min_size=1, max_size=20)
shares = st.floats(0, 1)
kinds = st.sampled_from(sorted(damage.OF_ATTEMPT))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = left_book.make(tmp_path_factory.mktemp("row") / "made")
    with open_store(folder) as store:
        store.studies()
    assert not (folder / "book.db-wal").exists()
    return folder


def damage_pages(book: Path, pages: list[int], seed: int) -> None:
    chance = random.Random(seed)
    with book.open("r+b") as file:
        for page in pages:
            file.seek(page % (book.stat().st_size // PAGE_BYTES) * PAGE_BYTES)
            file.write(chance.randbytes(PAGE_BYTES))


@settings(max_examples=5)
@given(pages=pages, seed=st.integers(0, 99))
def test_row_12_any_damage_is_recovered_from(made: Path, pages: list[int], seed: int) -> None:
    folder = left_book.copy(made, made.with_name("damaged"))
    damage_pages(folder / "book.db", pages, seed)
    recover_from(folder, made)


@pytest.mark.long
@settings(max_examples=200)
@given(pages=pages, seed=st.integers(0, 99))
def test_row_12_much_damage_is_recovered_from(made: Path, pages: list[int], seed: int) -> None:
    folder = left_book.copy(made, made.with_name("damaged"))
    damage_pages(folder / "book.db", pages, seed)
    recover_from(folder, made)


@settings(max_examples=10)
@given(share=shares, length=st.integers(1, 200), seed=st.integers(0, 99))
def test_row_12_a_few_bytes_are_recovered_from(
    made: Path, share: float, length: int, seed: int
) -> None:
    overwrite_and_recover(made, share, length, seed)


@pytest.mark.long
@settings(max_examples=400)
@given(share=shares, length=st.integers(1, 200), seed=st.integers(0, 99))
def test_row_12_any_few_bytes_are_recovered_from(
    made: Path, share: float, length: int, seed: int
) -> None:
    overwrite_and_recover(made, share, length, seed)


def overwrite_and_recover(made: Path, share: float, length: int, seed: int) -> None:
    folder = left_book.copy(made, made.with_name("damaged"))
    book = folder / "book.db"
    before = [book.read_bytes().count(points) for points in UNGUARDED]
    damage.overwrite(book, share, length, seed)
    assume([book.read_bytes().count(points) for points in UNGUARDED] == before)
    recover_from(folder, made)


def recover_from(folder: Path, made: Path) -> None:
    """The attempts' files are whole: nothing is lost."""
    book = folder / "book.db"
    bytes_before = book.read_bytes()
    found = recovering.check(folder)
    assert book.read_bytes() == bytes_before
    if not found.flaws and not found.compared.gone:  # bytes that nothing uses
        left_book.check(folder, made)
        return
    if found.flaws:
        done = recovering.recover(folder)
        assert done.kept is not None
        assert Path(done.kept).read_bytes() == bytes_before
        assert done.is_whole, done
        left_book.check(folder, made)
    assert not list(folder.glob(".recovering-*"))


@settings(max_examples=10)
@given(kind=kinds, trial=st.integers(1, TRIALS), share=shares, pages=pages, rest=st.booleans())
def test_row_12_a_damaged_book_with_damaged_files(
    made: Path, kind: str, trial: int, share: float, pages: list[int], rest: bool
) -> None:
    damage_both_and_recover(made, kind, trial, share, None if rest else pages)


@pytest.mark.long
@settings(max_examples=300)
@given(kind=kinds, trial=st.integers(1, TRIALS), share=shares, pages=pages, rest=st.booleans())
def test_row_12_any_damaged_book_with_any_damaged_files(
    made: Path, kind: str, trial: int, share: float, pages: list[int], rest: bool
) -> None:
    damage_both_and_recover(made, kind, trial, share, None if rest else pages)


def damage_both_and_recover(
    made: Path, kind: str, trial: int, share: float, pages: list[int] | None
) -> None:
    """One attempt's files are damaged, and pages of the book, or (None) all of it."""
    folder = left_book.copy(made, made.with_name("damaged"))
    damage_pages(folder / "book.db", [*range(999)] if pages is None else pages, 1)
    damage.OF_ATTEMPT[kind](folder / "studies" / "1" / str(trial) / "1", share)
    done = recovering.recover(folder)
    # The last trial leaves no trace, if neither row nor folder is there: that is not claimed.
    unseen = kind == "the folder is gone" and trial == TRIALS
    if done.studies is not None:
        lost = [line for study in done.studies for line in study.lost]
        assert done.is_whole == (not lost)
        assert any(f"trial {trial}" in line for line in lost) or unseen or pages is not None
        told = recovering.text(done)
        assert ("Nothing was lost." in told) <= (not lost and not done.doubtful)
        with open_store(folder, readonly=True) as store:
            results = store.results("depth")
        left_book.assert_no_wrong_result(results)
        # What is not lost is there.
        complete = {record.trial.index + 1 for record in results if record.status == "complete"}
        everyone = {*range(1, TRIALS + 1)}
        assert everyone - {trial} <= complete
        assert trial in complete or lost or unseen
    run_again(folder)
    with open_store(folder, readonly=True) as store:
        results = store.results("depth")
    assert sum(record.status == "complete" for record in results) == TRIALS
    left_book.assert_no_wrong_result(results)


@pytest.mark.parametrize(
    ("kind", "lost"),
    [
        ("attempt.json is overwritten", "trial 2, attempt 1: attempt.json cannot be read"),
        ("attempt.json is gone", "trial 2, attempt 1: attempt.json is missing"),
        ("the spool is gone", "trial 2, attempt 1: its records from byte 0 on"),
        ("the spool is cut", "trial 2: how attempt 1 ended, unless it was killed"),
        ("the spool is overwritten", "trial 2, attempt 1: its records from byte 5. on"),
        ("a byte of the spool is flipped", "trial 2, attempt 1: its records from byte 5. on"),
        ("the folder is gone", "trial 2: nothing was found"),
    ],
)
def test_row_12_what_neither_has_is_told(made: Path, tmp_path: Path, kind: str, lost: str) -> None:
    folder = left_book.copy(made, tmp_path / "damaged")
    (folder / "book.db").write_bytes(b"no book " * 4096)
    place = folder / "studies" / "1" / "2" / "1"
    # Somewhere in the points, which are the second of three records.
    damage.OF_ATTEMPT[kind](place, 0.3)
    done = recovering.recover(folder)
    assert not done.is_whole
    said = [line for study in done.studies or () for line in study.lost]
    # The first record has a process id, of four digits or five.
    assert any(re.fullmatch(lost, line) for line in said), said
    # Nothing goes on from a checkpoint whose points are lost.
    assert not (place / "checkpoints" / "2").exists()
    run_again(folder)
    with open_store(folder, readonly=True) as store:
        left_book.assert_no_wrong_result(store.results("depth"))


def test_row_12_damage_to_any_page_is_found_when_the_book_is_opened(
    made: Path, tmp_path: Path
) -> None:
    """Or when it is read; or nothing uses the page, and every result is right."""
    folder = left_book.copy(made, tmp_path / "damaged")
    book = folder / "book.db"
    whole, unused = book.read_bytes(), 0
    for page in range(len(whole) // PAGE_BYTES):
        for seed in (1, 2):
            book.write_bytes(whole)
            damage_pages(book, [page], seed)
            try:
                with open_store(folder) as store:
                    store.results("depth")
            except StoreError as error:
                assert "makes a new book" in str(error), error
            else:
                left_book.check(folder, made)
                unused += 1
    assert unused <= 2


def test_row_12_a_run_refuses_and_names_the_way_out(made: Path, tmp_path: Path) -> None:
    folder = left_book.copy(made, tmp_path / "damaged")
    damage_pages(folder / "book.db", list(range(1, 12)), 1)
    with pytest.raises(StoreError, match=r"`tunebook recover --dir .*` makes a new book"):
        run_again(folder)
    recovering.recover(folder)
    run_again(folder)
    left_book.check(folder, made)
