"""Row 5: what a failing disk refuses is not acknowledged, and a later run is fine."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import oracle
from faults.bench import Bench, Done
from faults.harness import acknowledged, check_acknowledged
from faults.nursery import Ended, Nursery, nursery
from faults.store_writer import TRIALS
from faults.store_writer import main as run_again
from faults.system_calls import WRITING, fault, needs_strace, under
from tunebook.core.results import Results
from tunebook.files import spool
from tunebook.storage.sqlite import open_store

PROGRAM = """
    def train(run):
        run.log({"error": run["x"]}, step=0)
    """
# The spool may not grow beyond some byte in the midst of a record.
OUTGROWS = """
    import resource

    def train(run):
        if run.attempt.number == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        for step in range(1000):
            run.log({"error": run["x"] + step}, step=step)
    """
DISK_FAILED = re.compile(
    r"Error: the disk failed while \S+/book\.db was in use \(SQLITE_IOERR_FSYNC\); what was being "
    r"written is not acknowledged, and nothing more is written\. Check the disk, then run again"
)


@pytest.fixture(scope="module")
def writers() -> Iterator[Nursery]:
    needs_strace()
    with nursery() as found:
        yield found


def fail_at(writers: Nursery, folder: Path, call: str, when: str, what: str = "error=EIO") -> str:
    """Let a call fail; what the writer said then. Nothing that it had acknowledged is missing."""
    failed = writers.write(folder, *fault(call, what, when))
    check_failed(failed, folder)
    return failed.err


def check_failed(failed: Ended, folder: Path) -> None:
    """All that it had acknowledged is there, and a later run is fine."""
    assert failed.status == 1, failed
    told = set(map(int, failed.out.split()))
    if (folder / "book.db").exists():
        oracle.check(folder)
        with open_store(folder, readonly=True) as store:
            stored = {
                r.trial.number
                for study in store.studies()
                for r in store.results(study.name)
                if r.status == "complete"
            }
        assert told <= stored
    run_again(folder)
    oracle.check(folder)
    with open_store(folder, readonly=True) as store:
        assert store.results("depth").counts() == {"complete": TRIALS}


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


def test_row_5_a_disk_that_takes_a_part_of_the_bytes(writers: Nursery, tmp_path: Path) -> None:
    """No border of a page, nor of a frame of the log: the write across it is cut short."""
    for largest in (10_500, 35_111):
        folder, trace = tmp_path / str(largest), tmp_path / f"{largest}.trace"
        failed = writers.write(
            folder, "-o", str(trace), "-e", f"trace={','.join(WRITING)}", largest=largest
        )
        assert cut_short(trace) > 0
        assert "Error: the disk failed while" in failed.err
        check_failed(failed, folder)


def cut_short(trace: Path) -> int:
    """How many writes took fewer bytes than they were given, but some."""
    found = re.findall(r"pwrite64\(.*, (\d+), \d+\) += (\d+)$", trace.read_text(), re.MULTILINE)
    return sum(0 < int(taken) < int(given) for given, taken in found)


def test_row_5_a_spool_of_which_a_part_is_taken(bench: Bench) -> None:
    bench.write_program(OUTGROWS)
    bench.write_study(trials=1)
    done = bench.run_study("--workers", "2")
    assert done.code == 0, done.err
    assert done.err.count("crashed: the process could not write down its outcome") == 2
    results = bench.results()
    assert results.counts() == {"complete": 2}
    for record in results:
        first, second = record.attempts
        assert first.outcome is not None
        assert first.outcome.detail.endswith("OSError: [Errno 27] File too large\n")
        assert second.outcome is not None
        assert second.outcome.kind.value == "complete"
        assert record.curves["error"].steps.tolist() == list(range(1000))
        # Of the record that did not fit, nothing is left; what was written after it can be read.
        path = Path(first.folder, "spool")
        assert [end for _, end in spool.read(path)][-1] == path.stat().st_size


def run_on_failing_disk(bench: Bench, call: str, when: str) -> Done:
    """`tunebook run` with a call that fails, in the coordinator or in the processes of trials."""
    needs_strace()
    options = under(*fault(call, "error=EIO", when))
    done = bench.start("run", "study.yaml", "--workers", "1", under=options).wait()
    assert "Traceback" not in done.err
    bench.is_quiet()
    return done


def fail_a_commit(bench: Bench, when: str) -> list[tuple[int, str]]:
    """Let `tunebook run` fail to sync its book; the results that it had acknowledged."""
    bench.write_program(PROGRAM)
    bench.write_study()
    failed = run_on_failing_disk(bench, "fdatasync", when)
    assert failed.code == 1
    *before, last = failed.err.splitlines()
    assert DISK_FAILED.fullmatch(last), failed.err
    assert all(re.match(r"depth: 0 of 4 trials|\[\d/4\] trial \d .* complete", s) for s in before)
    assert failed.out == ""
    told = acknowledged(failed.err)
    if told:
        check_acknowledged(bench.results(), told)
    return told


def finish(bench: Bench, told: list[tuple[int, str]], *options: str) -> Results:
    """A later run on a disk that is fine."""
    done = bench.run_study(*options)
    assert done.code == 0, done.err
    results = bench.results()
    assert results.counts() == {"complete": 4}
    check_acknowledged(results, told + acknowledged(done.err))
    return results


def test_row_5_a_run_whose_book_cannot_be_synced(bench: Bench) -> None:
    """The first syncs make the book; then there are two for each trial."""
    told = fail_a_commit(bench, "15+")
    assert told
    assert [len(record.attempts) for record in finish(bench, told)] == [1, 1, 1, 1]


@pytest.mark.long
@pytest.mark.parametrize("when", ["1+", "4+", "10+", "12+", "13", "18+"])
def test_row_5_a_run_whose_book_cannot_be_synced_at_any_moment(bench: Bench, when: str) -> None:
    told = fail_a_commit(bench, when)
    assert [len(record.attempts) for record in finish(bench, told)] == [1, 1, 1, 1]


@pytest.mark.long
@pytest.mark.parametrize("when", ["1+", "2+"])
def test_row_5_trials_that_cannot_be_synced_are_not_acknowledged(bench: Bench, when: str) -> None:
    """The study is in the book already, so that the files of trials alone are left to sync."""
    told = fail_a_commit(bench, "14+")
    failed = run_on_failing_disk(bench, "fsync", when)
    assert failed.code == 3
    # What was on the disk before is told now.
    known = acknowledged(failed.err)
    results = bench.results()
    check_acknowledged(results, told + known)
    assert results.counts() == {"complete": len(told + known), "crashed": 2}
    assert "Paused: 5 attempts in a row broke within 60 s" in failed.err
    finish(bench, told + known, "--retry-failed")


@pytest.mark.soak
@pytest.mark.parametrize("call", ["fdatasync", "fsync", "pwrite64"])
def test_row_5_at_any_moment(writers: Nursery, tmp_path: Path, call: str) -> None:
    """Every third call from the second on, to the last: beyond it there is nothing to fail."""
    hits = 0
    for when in itertools.count(2, 3):
        folder = tmp_path / str(when)
        ended = writers.write(folder, *fault(call, "error=EIO", f"{when}+"))
        if ended.status == 0:
            break
        check_failed(ended, folder)
        hits += 1
    assert hits >= 3
