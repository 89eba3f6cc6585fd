"""Row 22: asked to leave once, trials save and leave; asked twice, they are ended at once."""

from __future__ import annotations

import random
import signal
import time

import pytest

from faults.bench import Bench, Done

# Looks whether it should stop, and saves.
POLITE = """
    import json, time
    from pathlib import Path

    def train(run):
        first, state = 0, 1.0
        if folder := run.resume():
            first, state = json.loads((folder / "state.json").read_text())
        for step in range(first, 30):
            state = 0.9 * state + run["x"]
            run.log({"error": state}, step=step)
            Path("begun").touch()
            if run.should_stop:
                with run.checkpoint(step) as folder:
                    (folder / "state.json").write_text(json.dumps([step + 1, state]))
                return
            time.sleep(0.02)
    """

# Never looks, and never ends.
RUDE = """
    import time
    from pathlib import Path

    def train(run):
        run.log({"error": 1.0}, step=0)
        Path("begun").touch()
        while not Path("mended").exists():
            time.sleep(0.01)
    """


def expected(x: float) -> list[float]:
    values = [0.9 + x]
    for _ in range(29):
        values.append(0.9 * values[-1] + x)
    return values


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_row_22_trials_save_leave_and_go_on(bench: Bench, number: signal.Signals) -> None:
    bench.write_study()
    bench.write_program(POLITE)
    run = bench.start("run", "study.yaml", "--workers", "2")
    bench.wait_for_file("begun")
    run.process.send_signal(number)
    done = run.wait()
    assert done.code == 130
    assert "Stopping: trials have 30 s to save and leave. Ctrl-C again ends" in done.err
    assert "Traceback" not in done.err
    bench.is_quiet()
    left = bench.results()
    assert left.counts() == {"preempted": 2}
    again = bench.run_study("--workers", "2")
    assert (again.code, "Traceback" in again.err) == (0, False)
    results = bench.results()
    assert results.counts() == {"complete": 4}
    for record in results:
        curve = record.curves["error"]
        assert curve.steps.tolist() == list(range(30))
        assert curve.values.tolist() == expected(float(record.trial.config["x"]))
    for before in left:
        first, second = results[before.trial.number].attempts
        assert (second.source, second.resumed_at) == (1, first.last_step)


def test_row_22_at_any_instant(bench: Bench) -> None:
    interrupt_at_random(bench, random.Random(22), rounds=4, trials=3)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_row_22_at_many_instants(bench: Bench, seed: int) -> None:
    assert 130 in interrupt_at_random(bench, random.Random(seed), rounds=25, trials=25)


def is_unborn(done: Done) -> bool:
    """Whether Python was interrupted while it made itself ready, before it begins any program."""
    said = ("Fatal Python error: init_", "Could not import runpy module\n")
    return done.code == 1 and done.err.startswith(said)


def interrupt_at_random(bench: Bench, chance: random.Random, rounds: int, trials: int) -> list[int]:
    """Interrupt a run, from its very start on, and run again; then let the study come to its end.

    Returns the exit codes of those that were interrupted.
    """
    bench.write_study(trials=trials)
    bench.write_program(POLITE)
    codes = []
    for _ in range(rounds):
        run = bench.start("run", "study.yaml", "--workers", "2")
        time.sleep(chance.uniform(0.0, 2.0))
        number = chance.choice([signal.SIGINT, signal.SIGTERM])
        run.process.send_signal(number)
        done = run.wait()
        # Before anything is begun, Python itself dies of the signal.
        assert done.code in (0, 130, -number) or is_unborn(done), done.err
        codes.append(done.code)
        bench.is_quiet()
    assert bench.run_study().code == 0
    results = bench.results()
    assert results.counts() == {"complete": 2 * trials}
    for record in results:
        assert record.curves["error"].values.tolist() == expected(float(record.trial.config["x"]))
        kinds = {a.outcome.kind.value for a in record.attempts if a.outcome}
        assert kinds <= {"complete", "preempted"}
    return codes


def test_row_22_who_never_looks_is_ended_after_the_grace(bench: Bench) -> None:
    bench.write_study(trials=1)
    bench.write_program(RUDE)
    run = bench.start("run", "study.yaml", "--workers", "2", "--grace", "0.5")
    bench.wait_for_file("begun")
    run.process.send_signal(signal.SIGINT)
    assert run.wait().code == 130
    bench.is_quiet()
    outcomes = [record.outcome for record in bench.results()]
    assert [str(o.kind) for o in outcomes if o] == ["preempted", "preempted"]
    assert {o.reason for o in outcomes if o} == {"interrupted; ended after 0.5 s"}
    (bench.folder / "mended").touch()
    assert bench.run_study().code == 0
    assert bench.results().counts() == {"complete": 2}


def test_row_22_twice_is_at_once(bench: Bench) -> None:
    bench.write_study(trials=1)
    bench.write_program(RUDE)
    run = bench.start("run", "study.yaml", "--workers", "2", "--grace", "600")
    bench.wait_for_file("begun")
    run.process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    run.process.send_signal(signal.SIGINT)
    done = run.wait()
    assert done.code == 130
    assert "Ending every trial at once." in done.err
    bench.is_quiet()
    assert bench.results().counts() == {"preempted": 2}


def test_row_22_inline_too(bench: Bench) -> None:
    bench.write_study(trials=1)
    bench.write_program(RUDE)
    run = bench.start("run", "study.yaml", "--inline")
    bench.wait_for_file("begun")
    run.process.send_signal(signal.SIGINT)
    assert run.wait().code == 130
    assert bench.results().counts() == {"preempted": 1}
    (bench.folder / "mended").touch()
    assert bench.run_study("--inline").code == 0
    assert bench.results().counts() == {"complete": 2}
