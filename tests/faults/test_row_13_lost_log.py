"""Row 13: a log that was cut or removed loses no result: the attempts' own files have them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults import left_book
from faults.harness import Siege, kill, until
from faults.store_writer import main as run_again


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
