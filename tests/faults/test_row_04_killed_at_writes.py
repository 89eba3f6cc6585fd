"""Row 4: killed at any write, sync, rename or removal, what is left is a valid store."""

from __future__ import annotations

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


def kill_everywhere(tmp_path: Path, calls: tuple[str, ...], most: int | None) -> None:
    with nursery() as writers:
        trace = tmp_path / "trace"
        options = ("-o", str(trace), "-e", f"trace={','.join(WRITING)}")
        assert writers.write(tmp_path / "counted", *options).status == 0
        counts = count(trace)
        assert counts["pwrite64"] > 20
        points = [(call, when) for call in calls for when in range(1, counts[call] + 1)]
        stride = 1 if most is None else max(len(points) // most, 1)
        for number, (call, when) in enumerate(points[::stride]):
            kill_at(writers, tmp_path / f"book-{number}", call, when)


def test_row_4_a_store_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    kill_everywhere(tmp_path, WRITING, most=10)


@pytest.mark.soak
@pytest.mark.parametrize("call", WRITING)
def test_row_4_a_store_that_was_killed_at_every_write(tmp_path: Path, call: str) -> None:
    kill_everywhere(tmp_path, (call,), most=None)


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
    assert besiege(tmp_path, [("pwrite64", 60)]) == 1


@pytest.mark.soak
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "fsync", "rename", "unlink"])
def test_row_4_a_run_that_was_killed_at_many_writes(tmp_path: Path, call: str) -> None:
    assert besiege(tmp_path, [(call, when) for when in range(1, 61, 2)]) > 3
