"""Row 5: what a failing disk refuses is not acknowledged, and a later run is fine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from contracts import oracle
from faults.harness import HERE
from faults.store_writer import TRIALS
from faults.system_calls import PYTHON, inject, needs_strace
from tunebook.storage.sqlite import open_store

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent), "OPENBLAS_NUM_THREADS": "1"}


def write(folder: Path, *under: str) -> subprocess.CompletedProcess[str]:
    command = [*under, PYTHON, str(HERE / "store_writer.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)


def fail_at(folder: Path, call: str, when: str) -> str:
    """Let a call fail; what the writer said then. Nothing that it had acknowledged is missing."""
    needs_strace()
    failed = write(folder, *inject(call, "error=EIO", when))
    assert failed.returncode == 1, failed.stderr
    acknowledged = set(map(int, failed.stdout.split()))
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
    again = write(folder)
    assert (again.returncode, again.stderr) == (0, "")
    oracle.check(folder)
    with open_store(folder, readonly=True) as store:
        assert store.results("depth").counts() == {"complete": TRIALS}
    return failed.stderr


def test_row_5_the_store_says_that_its_disk_failed(tmp_path: Path) -> None:
    said = fail_at(tmp_path / "book", "fdatasync", "8+")
    assert "Error: the disk failed while" in said
    assert "not acknowledged, and nothing more is written. Check the disk, then run again" in said


def test_row_5_a_spool_that_cannot_be_synced_ends_its_writer(tmp_path: Path) -> None:
    """The first syncs are those of files beside the book; a spool's begin after them."""
    assert "Input/output error" in fail_at(tmp_path / "book", "fsync", "8+")


@pytest.mark.long
@pytest.mark.parametrize("call", ["fdatasync", "fsync", "pwrite64"])
def test_row_5_at_any_moment(tmp_path: Path, call: str) -> None:
    for when in range(2, 30, 3):
        fail_at(tmp_path / str(when), call, f"{when}+")
