"""Row 4: killed at any write, sync, rename or removal, what is left is a valid store."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from contracts import oracle
from faults.harness import HERE, Siege
from faults.store_writer import TRIALS
from faults.system_calls import PYTHON, WRITING, count, inject, needs_strace
from tunebook.files import atomic
from tunebook.storage.sqlite import open_store

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent), "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(autouse=True)
def _strace() -> None:
    needs_strace()


def command(folder: Path) -> list[str]:
    return [PYTHON, str(HERE / "store_writer.py"), str(folder)]


def kill_at(folder: Path, call: str, when: int) -> None:
    """Kill the writer at one of its calls; then let it run to its end."""
    under = inject(call, "signal=SIGKILL", str(when))
    killed = subprocess.run(
        [*under, *command(folder)], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert killed.returncode == -9, killed.stderr
    acknowledged = set(map(int, killed.stdout.rpartition("\n")[0].split()))
    if (folder / "book.db").exists():
        oracle.check(folder)
        with open_store(folder, readonly=True) as store:
            done = [r for s in store.studies() for r in store.results(s.name) if r.curves]
            stored = {r.trial.number for r in done if r.status == "complete"}
        assert acknowledged <= stored, f"{call} {when}: {acknowledged} were told, {stored} are kept"
    again = subprocess.run(
        command(folder), capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert (again.returncode, again.stderr) == (0, ""), f"{call} {when}"
    oracle.check(folder)
    with open_store(folder, readonly=True) as store:
        results = store.results("depth")
    assert results.counts() == {"complete": TRIALS}, f"{call} {when}"
    for record in results:
        assert record.curves["error"].steps.tolist() == [0, 1, 2], f"{call} {when}"
        last = Path(record.attempts[-1].folder) / "checkpoints" / "2"
        assert atomic.flaw(last) is None, f"{call} {when}"


def kill_everywhere(tmp_path: Path, calls: tuple[str, ...], most: int | None) -> None:
    counts = count(command(tmp_path / "counted"), tmp_path, ENVIRONMENT)
    assert counts["pwrite64"] > 20
    points = [(call, when) for call in calls for when in range(1, counts[call] + 1)]
    stride = 1 if most is None else max(len(points) // most, 1)
    for number, (call, when) in enumerate(points[::stride]):
        kill_at(tmp_path / str(number), call, when)


def test_row_4_a_store_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    kill_everywhere(tmp_path, WRITING, most=6)


@pytest.mark.long
@pytest.mark.parametrize("call", WRITING)
def test_row_4_a_store_that_was_killed_at_every_write(tmp_path: Path, call: str) -> None:
    kill_everywhere(tmp_path, (call,), most=None)


def besiege(tmp_path: Path, points: list[tuple[str, int]]) -> None:
    """Kill the coordinator, and every process of its trials, at the same of their calls."""
    for call, when in points:
        with Siege(tmp_path / f"{call}-{when}", trials=2) as siege:
            siege.start(*inject(call, "signal=SIGKILL", str(when), children=True)).wait(timeout=120)
            siege.mark.end()
            if siege.has_begun:
                siege.check_book()
            siege.finish()
            siege.check()


def test_row_4_a_run_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    besiege(tmp_path, [("fdatasync", 3), ("pwrite64", 5)])


@pytest.mark.long
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "fsync", "rename", "unlink"])
def test_row_4_a_run_that_was_killed_at_many_writes(tmp_path: Path, call: str) -> None:
    besiege(tmp_path, [(call, when) for when in range(1, 31)])
