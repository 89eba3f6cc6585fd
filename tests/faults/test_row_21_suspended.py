"""Row 21: processes are suspended, one kind or all of them, and go on: no trial runs twice."""

from __future__ import annotations

import os
import signal
import time

import pytest

from faults.bench import Bench, Running
from faults.harness import until

PROGRAM = """
    import time
    from pathlib import Path

    def train(run):
        with open(f"starts-{run.attempt.trial.number}", "a") as starts:
            starts.write("once\\n")
        for step in range(60):
            run.log({"error": run["x"] + step}, step=step)
            time.sleep(0.03)
    """
# Longer than a look at the spools, the naming of an owner and the limit of silence below.
SUSPENDED_SECONDS = 4.0
# Longer than the time to leave after Ctrl-C, too.
LONG_SECONDS = 45.0


def members(bench: Bench, run: Running, who: str) -> list[int]:
    """The processes of a kind, once two trials run."""
    keepers = [bench.keeper(1), bench.keeper(2)]
    match who:
        case "coordinator":
            return [run.process.pid]
        case "server":
            return bench.mark.children(run.process.pid)
        case "keepers":
            return keepers
        case "workers":
            return [pid for keeper in keepers for pid in bench.mark.children(keeper)]
    return list(bench.mark.parents())


def suspend(bench: Bench, who: str, seconds: float) -> None:
    bench.write_study(trials=2)
    bench.write_program(PROGRAM)
    # Suspended time is no silence of a trial, if the coordinator is suspended as well.
    limit = ("--stall-timeout", "3") if who in ("all", "coordinator") else ()
    run = bench.start("run", "study.yaml", "--workers", "2", *limit)
    until(lambda: all((bench.folder / f"starts-{n}").exists() for n in (1, 2)), "two trials")
    stopped = members(bench, run, who)
    assert stopped
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    # It lives, though it does not move.
    second = bench.run_study()
    assert second.code == 1
    assert f"is being run by process {run.process.pid} on " in second.err
    time.sleep(max(seconds - (time.monotonic() - began), 0.0))
    assert run.process.poll() is None
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    done = run.wait(180)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    results = bench.results()
    assert results.counts() == {"complete": 4}
    for record in results:
        assert len(record.attempts) == 1, record
        assert record.curves["error"].steps.tolist() == list(range(60))
        starts = bench.folder / f"starts-{record.trial.number}"
        assert starts.read_text() == "once\n"
    bench.is_quiet()


@pytest.mark.parametrize("who", ["coordinator", "server", "keepers", "workers", "all"])
def test_row_21_suspended_and_resumed(bench: Bench, who: str) -> None:
    suspend(bench, who, SUSPENDED_SECONDS)


@pytest.mark.soak
@pytest.mark.parametrize("who", ["coordinator", "server", "keepers", "workers", "all"])
def test_row_21_suspended_for_longer_than_any_patience(bench: Bench, who: str) -> None:
    suspend(bench, who, LONG_SECONDS)
