"""Row 33: whatever a program starts and leaves behind ends with its attempt."""

from __future__ import annotations

import pytest

from faults.bench import Bench
from faults.harness import kill

# A daemon by the book: a new session, an orphan at once, deaf to polite signals.
PROGRAM = """
    import os, signal, subprocess, sys, time
    from pathlib import Path

    def daemon(path):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                path.write_text(str(os.getpid()))
                time.sleep(600)
            os._exit(0)

    def train(run):
        name = f"{run.attempt.trial.number}-{run.attempt.number}"
        daemon(Path(f"daemon-{name}"))
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        while not Path(f"daemon-{name}").exists():
            time.sleep(0.01)
        while Path("hold").exists() and run.attempt.number < 3:
            time.sleep(0.01)
        run.log({"error": run["x"]}, step=0)
    """


def test_row_33_what_programs_leave_behind_ends_with_them(bench: Bench) -> None:
    bench.write_study()
    bench.write_program(PROGRAM)
    assert bench.run_study("--workers", "2").code == 0
    assert bench.results().counts() == {"complete": 4}
    assert len(list(bench.folder.glob("daemon-*"))) == 4
    bench.is_quiet()


@pytest.mark.parametrize("victim", ["worker", "keeper"])
def test_row_33_what_killed_attempts_leave_behind_ends_too(bench: Bench, victim: str) -> None:
    bench.write_study(trials=1)
    bench.write_program(PROGRAM)
    (bench.folder / "hold").touch()
    run = bench.start("run", "study.yaml", "--workers", "1")
    for attempt in (1, 2):
        bench.wait_for_file(f"daemon-1-{attempt}")
        keeper = bench.keeper(trial=1)
        workers = bench.mark.children(keeper)
        kill([keeper] if victim == "keeper" else workers)
    (bench.folder / "hold").unlink()
    assert run.wait().code == 0
    assert bench.results().counts() == {"complete": 2}
    bench.is_quiet()
