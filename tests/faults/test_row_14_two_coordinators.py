"""Row 14: a study has one coordinator. The second is refused by name, or adds its workers."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from pathlib import Path

import pytest

from faults.bench import Bench
from faults.harness import Siege, kill, until

SLOW = """
    import time
    from pathlib import Path

    def train(run):
        Path(f"began-{run.attempt.trial.number}").touch()
        while not Path("go").exists():
            time.sleep(0.01)
        run.log({"error": run["x"]}, step=0)
    """


def test_row_14_the_second_is_refused_by_name_and_follows_when_the_first_is_dead(
    bench: Bench,
) -> None:
    bench.write_study()
    bench.write_program(SLOW)
    first = bench.start("run", "study.yaml", "--workers", "1")
    bench.wait_for_file("began-1")
    second = bench.run_study()
    assert second.code == 1
    assert second.err == (
        f"Error: depth is being run by process {first.process.pid} on {socket.gethostname()}; "
        "wait for it, stop it there with Ctrl-C, or add workers to it with --join\n"
    )
    kill([first.process.pid])
    first.process.wait()
    (bench.folder / "go").touch()
    assert bench.run_study().code == 0
    results = bench.results()
    assert results.counts() == {"complete": 4}
    assert len(results[1].attempts) == 1
    bench.is_quiet()


def test_row_14_join_adds_workers_to_the_first(bench: Bench) -> None:
    bench.write_study()
    bench.write_program(SLOW)
    first = bench.start("run", "study.yaml", "--workers", "1")
    bench.wait_for_file("began-1")
    joined = bench.run_study("--join", "--workers", "2")
    assert (joined.code, joined.out) == (
        0,
        "Asked the process that runs depth for 2 more workers.\n",
    )
    bench.wait_for_file("began-3")
    assert not (bench.folder / "began-4").exists()
    (bench.folder / "go").touch()
    assert first.wait().code == 0
    assert bench.results().counts() == {"complete": 4}


def test_row_14_there_must_be_someone_to_join(bench: Bench) -> None:
    bench.write_study()
    bench.write_program(SLOW)
    done = bench.run_study("--join")
    assert done.code == 1
    assert done.err == "Error: no process runs depth now; leave out --join to run it here\n"


def fight(siege: Siege, chance: random.Random, rounds: int) -> None:
    """Two coordinators start at nearly the same time; the one who wins is killed; and again."""
    for _ in range(rounds):
        printed = len(siege.lines.read_text()) if siege.lines.exists() else 0
        first = siege.start()
        time.sleep(chance.choice([0.0, chance.uniform(0.0, 1.0)]))
        second = siege.start()
        loser, winner = _decided([first, second])
        assert loser.returncode == 1
        refusal = f"siege is being run by process {winner.pid} on {socket.gethostname()};"
        assert refusal in siege.lines.read_text()[printed:]
        assert winner.poll() is None
        time.sleep(chance.uniform(0.0, 0.5))
        kill([winner.pid])
        winner.wait()
        siege.check_book()


def _decided(pair: list[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    """Of two processes, the one that ended first, and the other."""
    until(lambda: any(process.poll() is not None for process in pair), "one of two gives way")
    return sorted(pair, key=lambda process: process.poll() is None)


def test_row_14_of_two_at_any_instant_one_runs(tmp_path: Path) -> None:
    with Siege(tmp_path / "siege", trials=15, pause=0.01) as siege:
        fight(siege, random.Random(14), rounds=3)
        siege.finish()
        assert [len(record.attempts) for record in siege.check()] == [1] * 30


@pytest.mark.long
def test_row_14_fifty_pairs(tmp_path: Path) -> None:
    with Siege(tmp_path / "siege", trials=150, pause=0.01) as siege:
        fight(siege, random.Random(15), rounds=50)
        siege.finish()
        assert [len(record.attempts) for record in siege.check()] == [1] * 300
