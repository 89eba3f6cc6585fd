"""Row 26: a trial hangs. With a limit it is ended and tried again; without one it is left alone."""

from __future__ import annotations

import sys

import pytest

from faults.bench import Bench

# The first attempt of each trial hangs, with a child that hangs as well.
PROGRAM = """
    import subprocess, time

    def train(run):
        run.log({"error": run["x"]}, step=0)
        if run.attempt.number == 1:
            subprocess.run(["sleep", "600"])
        run.log({"error": run["x"]}, step=1)
    """
SCRIPT = """
    import sys, time
    from pathlib import Path

    again = Path(f"{sys.argv[1]}/../../files/checkpoints/again")
    print("error", sys.argv[2], flush=True)
    if not again.exists():
        again.touch()
        time.sleep(600)
    """
# Says nothing for longer than the limit in all, but never at a stretch.
TALKS = """
    import time

    def train(run):
        for step in range(10):
            time.sleep(0.4)
            {what}
        run.log({{"error": run["x"]}}, step=100)
    """


@pytest.mark.parametrize("kind", ["function", "command"])
def test_row_26_a_trial_that_hangs_is_ended_and_tried_again(bench: Bench, kind: str) -> None:
    bench.write_program(PROGRAM if kind == "function" else SCRIPT)
    if kind == "function":
        bench.write_study(trials=1)
    else:
        bench.write_study(
            trials=1,
            command=[sys.executable, "train.py", "{run_dir}", "{x}", "{arm}"],
            metrics={"pattern": r"^error (?P<error>\S+)"},
        )
    done = bench.run_study("--workers", "2", "--stall-timeout", "4")
    assert done.code == 0, done.err
    results = bench.results()
    assert results.counts() == {"complete": 2}
    for record in results:
        first, second = (attempt.outcome for attempt in record.attempts)
        assert first is not None
        assert second is not None
        assert first.kind.value == "crashed"
        assert first.reason.startswith("stalled: no log, output or checkpoint for ")
        assert second.kind.value == "complete"
    shown = bench.run("show", "depth", "1")
    assert "stalled: no log, output or checkpoint for" in " ".join(shown.out.split())
    bench.is_quiet()


def test_row_26_without_a_limit_a_silent_trial_is_left_alone(bench: Bench) -> None:
    """For longer than the limit above; only after ten minutes is there a sentence on it."""
    bench.write_program(
        """
        import time

        def train(run):
            run.log({"error": run["x"]}, step=0)
            time.sleep(5)
            run.log({"error": run["x"]}, step=1)
        """
    )
    bench.write_study(trials=1)
    done = bench.run_study("--workers", "2")
    assert done.code == 0, done.err
    results = bench.results()
    assert results.counts() == {"complete": 2}
    assert [len(record.attempts) for record in results] == [1, 1]
    assert [record.attempts[0].notes for record in results] == [(), ()]


@pytest.mark.parametrize(
    "what",
    [
        "run.log({{'other': 1.0}}, step=step)",
        pytest.param("print('still there', flush=True)", marks=pytest.mark.long),
        "with run.checkpoint(step) as folder: (folder / 'a').touch()",
    ],
)
def test_row_26_every_report_is_a_sign_of_life(bench: Bench, what: str) -> None:
    bench.write_program(TALKS.format(what=what.format()))
    bench.write_study(trials=1)
    done = bench.run_study("--workers", "2", "--stall-timeout", "3")
    assert done.code == 0, done.err
    results = bench.results()
    assert results.counts() == {"complete": 2}
    assert [len(record.attempts) for record in results] == [1, 1]


def test_row_26_a_limit_that_is_none(bench: Bench) -> None:
    bench.write_program(PROGRAM)
    bench.write_study()
    done = bench.run_study("--stall-timeout", "0")
    assert done.code == 2
    assert "--stall-timeout" in done.err
