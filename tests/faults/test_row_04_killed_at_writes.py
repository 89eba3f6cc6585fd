"""Row 4: killed at any write, sync, rename or removal, what is left is a valid store."""

from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path

import pytest

from contracts import oracle
from faults.harness import Siege
from faults.nursery import Nursery, nursery
from faults.store_writer import TRIALS
from faults.store_writer import main as run_again
from faults.system_calls import WRITING, count, fault, needs_strace, under
from tunebook.files import atomic
from tunebook.storage.sqlite import open_store


@pytest.fixture(autouse=True)
def _strace() -> None:
    needs_strace()


def kill_at(writers: Nursery, folder: Path, call: str, when: int) -> None:
    """Kill a writer at one of its calls; then let another run to its end."""
    where = f"{call} {when}"
    killed = writers.write(folder, *fault(call, "signal=SIGKILL", str(when)))
    assert killed.status == -9, f"{where}: {killed}"
    acknowledged = set(map(int, killed.out.rpartition("\n")[0].split()))
    if (folder / "book.db").exists():
        oracle.check(folder)
        with open_store(folder, readonly=True) as store:
            done = [r for s in store.studies() for r in store.results(s.name) if r.curves]
            stored = {r.trial.number for r in done if r.status == "complete"}
        assert acknowledged <= stored, f"{where}: {acknowledged} were told, {stored} are kept"
    run_again(folder)
    oracle.check(folder)
    with open_store(folder, readonly=True) as store:
        results = store.results("depth")
    assert results.counts() == {"complete": TRIALS}, where
    for record in results:
        assert record.curves["error"].steps.tolist() == [0, 1, 2], where
        last = Path(record.attempts[-1].folder) / "checkpoints" / "2"
        assert atomic.flaw(last) is None, where


def points(count: int, most: int, day: int) -> list[int]:
    """At most so many of the calls 1 to `count`, evenly apart; day by day, every one has its turn.

    >>> points(19, 2, 0), points(19, 2, 8), points(1, 2, 5)
    ([1, 11], [9, 19], [1])
    """
    stride = -(-count // most)
    return list(range(1 + day % stride, count + 1, stride))


def today() -> int:
    """Which of the points are taken today; `FAULTS_DAY` repeats another day's."""
    day = int(os.environ.get("FAULTS_DAY") or date.today().toordinal())
    print(f"FAULTS_DAY={day}")
    return day


def kill_everywhere(tmp_path: Path, calls: dict[str, int], day: int = 0) -> None:
    """Kill writers at so many calls of each kind."""
    with nursery() as writers:
        trace = tmp_path / "trace"
        options = ("-o", str(trace), "-e", f"trace={','.join(WRITING)}")
        assert writers.write(tmp_path / "counted", *options).status == 0
        counts = count(trace)
        assert counts["pwrite64"] > 20
        for call, most in calls.items():
            assert counts[call] > 0, call
            for when in points(counts[call], most, day):
                kill_at(writers, tmp_path / f"{call}-{when}", call, when)


def test_row_4_every_call_has_its_turn() -> None:
    for number in (1, 7, 13, 166):
        days = [points(number, 4, day) for day in range(number)]
        assert {when for day in days for when in day} == set(range(1, number + 1))
        assert all(1 <= len(day) <= 4 for day in days)


def test_row_4_a_store_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    """Some calls of every kind, and others each day; the long test takes all of them."""
    kill_everywhere(tmp_path, {**dict.fromkeys(WRITING, 1), "pwrite64": 6}, today())


@pytest.mark.long
@pytest.mark.parametrize("call", WRITING)
def test_row_4_a_store_that_was_killed_at_every_write(tmp_path: Path, call: str) -> None:
    kill_everywhere(tmp_path, {call: sys.maxsize})


def besiege(tmp_path: Path, points: list[tuple[str, int]]) -> int:
    """Kill the coordinator, and every process of its trials, at the same of their calls.

    Returns how many coordinators were killed so: others make fewer calls of a kind.
    """
    kills = 0
    for call, when in points:
        with Siege(tmp_path / f"{call}-{when}", trials=2) as siege:
            process = siege.start(*under(*fault(call, "signal=SIGKILL", str(when))))
            kills += process.wait(timeout=120) == -9
            siege.mark.end()
            if siege.has_begun:
                siege.check_book()
            siege.finish()
            siege.check()
    return kills


@pytest.mark.long
def test_row_4_a_run_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    """Anywhere from its first write to the middle of its trials, at another one each day."""
    day = today()
    assert besiege(tmp_path, [("pwrite64", 1 + day % 60), ("fdatasync", 1 + day % 14)]) == 2


@pytest.mark.soak
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "fsync", "rename", "unlink"])
def test_row_4_a_run_that_was_killed_at_many_writes(tmp_path: Path, call: str) -> None:
    assert besiege(tmp_path, [(call, when) for when in range(1, 61, 2)]) > 3
