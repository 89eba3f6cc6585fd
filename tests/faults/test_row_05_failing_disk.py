"""Row 5: what a failing disk refuses is not acknowledged, and a later run is fine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import oracle
from faults.nursery import Nursery, nursery
from faults.store_writer import TRIALS
from faults.store_writer import main as run_again
from faults.system_calls import fault, needs_strace
from tunebook.storage.sqlite import open_store


@pytest.fixture(scope="module")
def writers() -> Iterator[Nursery]:
    needs_strace()
    with nursery() as found:
        yield found


def fail_at(writers: Nursery, folder: Path, call: str, when: str, what: str = "error=EIO") -> str:
    """Let a call fail; what the writer said then. Nothing that it had acknowledged is missing."""
    failed = writers.write(folder, *fault(call, what, when))
    assert failed.status == 1, failed
    acknowledged = set(map(int, failed.out.split()))
    if (folder / "book.db").exists():
        oracle.check(folder)
        with open_store(folder, readonly=True) as store:
            stored = {
                r.trial.number
                for study in store.studies()
                for r in store.results(study.name)
                if r.status == "complete"
            }
        assert acknowledged <= stored
    run_again(folder)
    oracle.check(folder)
    with open_store(folder, readonly=True) as store:
        assert store.results("depth").counts() == {"complete": TRIALS}
    return failed.err


def test_row_5_the_store_says_that_its_disk_failed(writers: Nursery, tmp_path: Path) -> None:
    said = fail_at(writers, tmp_path / "book", "fdatasync", "8+")
    assert "Error: the disk failed while" in said
    assert "not acknowledged, and nothing more is written. Check the disk, then run again" in said


def test_row_5_a_spool_that_cannot_be_synced_ends_its_writer(
    writers: Nursery, tmp_path: Path
) -> None:
    """The first syncs are those of files beside the book; a spool's begin after them."""
    assert "Input/output error" in fail_at(writers, tmp_path / "book", "fsync", "8+")


@pytest.mark.parametrize("when", ["20+", "60+", "100+"])
def test_row_5_a_disk_that_takes_nothing_is_given_up(
    writers: Nursery, tmp_path: Path, when: str
) -> None:
    """SQLite takes it for a full disk."""
    said = fail_at(writers, tmp_path / "book", "pwrite64", when, "retval=0")
    assert "the disk took none of the bytes" in said or "no room for" in said


@pytest.mark.soak
@pytest.mark.parametrize("call", ["fdatasync", "fsync", "pwrite64"])
def test_row_5_at_any_moment(writers: Nursery, tmp_path: Path, call: str) -> None:
    for when in range(2, 30, 3):
        fail_at(writers, tmp_path / str(when), call, f"{when}+")
