"""Row 13: a log that was cut or removed loses no result: the attempts' own files have them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults import damage, left_book
from faults.harness import Siege, kill, until
from faults.store_writer import TRIALS
from faults.store_writer import main as run_again
from tunebook.storage.sqlite import open_store


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = left_book.make(tmp_path_factory.mktemp("row") / "made")
    assert (folder / "book.db-wal").stat().st_size > 10_000
    return folder


@settings(max_examples=6)
@given(share=st.floats(0, 1), keeps_memory=st.booleans())
def test_row_13_a_log_that_was_cut(made: Path, share: float, keeps_memory: bool) -> None:
    cut_and_run(made, share, keeps_memory)


@pytest.mark.long
@settings(max_examples=200)
@given(share=st.floats(0, 1), keeps_memory=st.booleans())
def test_row_13_a_log_that_was_cut_anywhere(made: Path, share: float, keeps_memory: bool) -> None:
    cut_and_run(made, share, keeps_memory)


def cut_and_run(made: Path, share: float, keeps_memory: bool) -> None:
    folder = left_book.copy(made, made.with_name("cut"))
    log = folder / "book.db-wal"
    with log.open("r+b") as file:
        file.truncate(int(share * log.stat().st_size))
    if not keeps_memory:
        (folder / "book.db-shm").unlink()
    run_again(folder)
    left_book.check(folder, made)


@pytest.mark.parametrize("gone", [("-wal",), ("-shm",), ("-wal", "-shm"), ("", "-wal", "-shm")])
def test_row_13_files_that_were_removed(made: Path, tmp_path: Path, gone: tuple[str, ...]) -> None:
    folder = left_book.copy(made, tmp_path / "removed")
    for suffix in gone:
        (folder / f"book.db{suffix}").unlink()
    run_again(folder)
    left_book.check(folder, made)


@settings(max_examples=10)
@given(
    kind=st.sampled_from(sorted(damage.OF_ATTEMPT)),
    trial=st.integers(1, TRIALS),
    share=st.floats(0, 1),
    kept=st.floats(0, 1),
)
def test_row_13_a_log_that_was_cut_and_damaged_files(
    made: Path, kind: str, trial: int, share: float, kept: float
) -> None:
    """Whatever is left of both, the others are not run again, and no wrong result is taken in."""
    folder = left_book.copy(made, made.with_name("cut"))
    log = folder / "book.db-wal"
    with log.open("r+b") as file:
        file.truncate(int(kept * log.stat().st_size))
    (folder / "book.db-shm").unlink()
    damage.OF_ATTEMPT[kind](folder / "studies" / "1" / str(trial) / "1", share)
    run_again(folder)
    with open_store(folder, readonly=True) as store:
        results = store.results("depth")
    left_book.assert_no_wrong_result(results)
    assert sum(record.status == "complete" for record in results) == TRIALS
    for record in results:
        if record.trial.index + 1 != trial:
            assert len(record.attempts) == 1


def test_row_13_a_real_run_says_what_its_book_had_lost(tmp_path: Path) -> None:
    with Siege(tmp_path / "siege", trials=3, pause=0.01) as siege:
        process = siege.start()
        until(lambda: len(siege.acknowledged()) >= 2, "two trials end")
        kill([process.pid])
        process.wait()
        told = dict(siege.acknowledged())
        for path in siege.book.glob("book.db-*"):
            path.unlink()
        again = siege.lines.stat().st_size
        siege.finish()
        said = siege.lines.read_text()[again:]
        assert "The book had lost its latest commits, with" in said
        assert "taken in again from the attempts' own files" in said
        results = siege.results()
        assert results.counts() == {"complete": 6}
        assert all(len(results[trial].attempts) == 1 for trial in told)
        assert set(siege.starts().values()) == {1}
