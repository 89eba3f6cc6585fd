"""Rows 27 and 8: a trial that is resumed twice has one curve; a damaged checkpoint is skipped."""

from __future__ import annotations

import signal
from pathlib import Path

from faults.bench import Bench
from faults.harness import kill

# Every value tells its step and attempt. It stops at a gate in its first two attempts, far enough
# beyond the last checkpoint that points are repeated, and long enough that they are written out.
PROGRAM = """
    import time
    from pathlib import Path

    GATES = {1: 12, 2: 23}

    def train(run):
        attempt = run.attempt.number
        folder = run.resume()
        first = int((folder / "step").read_text()) + 1 if folder else 0
        for step in range(first, 30):
            run.log({"error": step + attempt / 10}, step=step)
            if step % 5 == 4:
                with run.checkpoint(step) as folder:
                    (folder / "step").write_text(str(step))
            if step == GATES.get(attempt):
                time.sleep(1.0)
                Path(f"gate-{attempt}").touch()
                while not run.should_stop:
                    time.sleep(0.01)
                return
    """


def test_row_27_the_curve_never_goes_back_and_has_no_gap(bench: Bench) -> None:
    bench.write_study(scientific={}, trials=1)
    bench.write_program(PROGRAM)
    run = bench.start("run", "study.yaml", "--workers", "1")
    bench.wait_for_file("gate-1")
    kill(bench.mark.children(bench.keeper(trial=1)))
    bench.wait_for_file("gate-2")
    run.process.send_signal(signal.SIGINT)
    assert run.wait().code == 130
    assert bench.run_study().code == 0
    (record,) = bench.results()
    assert [str(a.outcome.kind) for a in record.attempts if a.outcome] == [
        "crashed",
        "preempted",
        "complete",
    ]
    assert [(a.source, a.resumed_at) for a in record.attempts] == [(None, None), (1, 9), (2, 19)]
    curve = record.curves["error"]
    assert curve.steps.tolist() == list(range(30))
    writers = [1] * 10 + [2] * 10 + [3] * 10
    expected = [step + attempt / 10 for step, attempt in enumerate(writers)]
    assert curve.values.tolist() == expected
    # What was superseded is hidden, not lost.
    assert [attempt.last_step for attempt in record.attempts] == [12, 23, 29]
    bench.is_quiet()


def test_row_8_a_damaged_checkpoint_is_skipped_for_the_one_before(bench: Bench) -> None:
    bench.write_study(scientific={}, trials=1)
    bench.write_program(PROGRAM.replace("{1: 12, 2: 23}", "{1: 12}"))
    bench.start("run", "study.yaml", "--workers", "1")
    bench.wait_for_file("gate-1")
    bench.end()
    (attempt,) = bench.results()[1].attempts
    Path(attempt.folder, "checkpoints", "9", "step").write_text("7")
    assert bench.run_study().code == 0
    (record,) = bench.results()
    second = record.attempts[1]
    assert (second.source, second.resumed_at) == (1, 4)
    assert any("skipped the checkpoint of step 9" in note for note in second.notes)
    assert record.curves["error"].steps.tolist() == list(range(30))
    assert record.curves["error"].values.tolist()[:7] == [0.1, 1.1, 2.1, 3.1, 4.1, 5.2, 6.2]
