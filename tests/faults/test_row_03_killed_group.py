"""Row 3: `kill -9` of everything at once. Running again completes the study, with exactly N."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.bench import Bench
from faults.harness import besiege, kill_everything, resumptions, until

WAITING = """
    import pathlib, time
    def train(run):
        pathlib.Path(f"began-{run.seed}-{run['arm']}").touch()
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        run.log({"error": run["x"]}, step=0)
    """
STEP_BY_STEP = """
    import pathlib, time
    def train(run):
        saved = run.resume()
        step = int((saved / "step").read_text()) + 1 if saved else 0
        while step < 40:
            run.log({"error": 1 / (1 + step)}, step=step)
            with run.checkpoint(step) as folder:
                (folder / "step").write_text(str(step))
            pathlib.Path("at").write_text(str(step))
            if step % 10 == 9:
                time.sleep(0.0 if pathlib.Path("go").exists() else 600.0)
            step += 1
    """


def kill_all(bench: Bench) -> None:
    """As a power cut would."""
    bench.end()


def test_row_3_a_machine_that_died_is_no_broken_program(bench: Bench) -> None:
    """The real command, and more workers than it takes failures to pause it."""
    bench.write_study(trials=4)
    bench.write_program(WAITING)
    bench.start("run", "study.yaml", "--workers", "8")
    until(lambda: len(list(bench.folder.glob("began-*"))) == 8, "all trials run")
    kill_all(bench)
    (bench.folder / "go").touch()
    done = bench.run_study("--workers", "8")
    assert (done.code, bench.results().counts()) == (0, {"complete": 8})
    assert {len(record.attempts) for record in bench.results()} == {2}


def test_row_3_crashes_between_which_a_trial_advances_do_not_end_it(bench: Bench) -> None:
    bench.write_study(trials=1, scientific={"arm": ["a"]})
    bench.write_program(STEP_BY_STEP)
    for reached in (9, 19, 29, 39):
        bench.start("run", "study.yaml", "--workers", "1")
        at = bench.folder / "at"
        until(
            lambda at=at, reached=reached: at.exists() and at.read_text() == str(reached),
            "it is there",
        )
        kill_all(bench)
    (bench.folder / "go").touch()
    assert bench.run_study("--workers", "1").code == 0
    (record,) = bench.results()
    assert record.status == "complete"
    assert len(record.attempts) == 5
    assert record.curves["error"].steps.tolist() == list(range(40))


def test_row_3_a_killed_group_is_run_again_to_its_end(tmp_path: Path) -> None:
    ended = besiege(tmp_path, kill_everything, kills=10, trials=4, seed=3, pause=0.01)
    assert resumptions(ended) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_row_3_hundreds_of_kills(tmp_path: Path, seed: int) -> None:
    assert resumptions(besiege(tmp_path, kill_everything, kills=75, trials=50, seed=seed)) > 0


@pytest.mark.soak
def test_row_3_thousands_of_kills(tmp_path: Path) -> None:
    besiege(tmp_path, kill_everything, kills=5000, trials=50, seed=3)
