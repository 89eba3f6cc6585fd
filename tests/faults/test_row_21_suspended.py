"""Row 21: processes are suspended, one kind or all of them, and go on: no trial runs twice.

Seconds are enough. Whether a process lives is told by a lock that it holds, which the kernel frees
when it dies: there is no lease that could run out. The one clock that looks at trials is that of
their silence; where it runs, it is given less than the suspension takes.
"""

from __future__ import annotations

import os
import signal
import time

import pytest

from faults.bench import Bench, Running
from faults.harness import until
from tunebook.execution.processes import READ_SECONDS

# The first trial is silent from before the suspension until after it. The second goes on just as it
# begins, and comes to its end meanwhile if it can.
PROGRAM = """
    import time
    from pathlib import Path

    WAITS_FOR = {1: "resumed", 2: "suspended"}

    def train(run):
        number = run.attempt.trial.number
        with open(f"starts-{number}", "a") as starts:
            starts.write("once\\n")
        for step in range(60):
            run.log({"error": run["x"] + step}, step=step)
            time.sleep(0.03)
            while step == 9 and number in WAITS_FOR and not Path(WAITS_FOR[number]).exists():
                time.sleep(0.01)
    """
# Longer than a look at the spools, the naming of an owner and the limit of silence.
SUSPENDED_SECONDS = 4.0
SILENT_SECONDS = 3.0
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
    limited = who in ("all", "coordinator")
    limit = ("--stall-timeout", str(SILENT_SECONDS)) if limited else ()
    run = bench.start("run", "study.yaml", "--workers", "2", *limit)
    until(lambda: all((bench.folder / f"starts-{n}").exists() for n in (1, 2)), "two trials")
    stopped = members(bench, run, who)
    assert stopped
    # Nothing is left to be written or read that would be taken for a sign of life.
    until(lambda: bench.results()[1].attempts[0].last_step == 9, "the silence begins")
    (bench.folder / "suspended").touch()
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
    # In the meantime the coordinator looks at a trial that is as silent as it left it.
    time.sleep(READ_SECONDS)
    (bench.folder / "resumed").touch()
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


@pytest.mark.parametrize(
    "who",
    [
        "coordinator",
        *(pytest.param(who, marks=pytest.mark.long) for who in ("server", "keepers", "workers")),
        "all",
    ],
)
def test_row_21_suspended_and_resumed(bench: Bench, who: str) -> None:
    suspend(bench, who, SUSPENDED_SECONDS)


@pytest.mark.soak
@pytest.mark.parametrize("who", ["coordinator", "server", "keepers", "workers", "all"])
def test_row_21_suspended_for_longer_than_any_patience(bench: Bench, who: str) -> None:
    suspend(bench, who, LONG_SECONDS)
