"""Row 33, on accelerators: who is left on one keeps trials away from it, and is named."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_devices import FakeSmi
from faults.bench import Bench, Running
from faults.harness import until

UUIDS = ("GPU-aaaa", "GPU-bbbb", "GPU-cccc")
# Each trial notes the devices it sees; those that are told to wait do so until released.
PROGRAM = """
    import os, time
    from pathlib import Path

    def train(run):
        name = f"{run.attempt.trial.number}"
        Path(f"saw-{name}").write_text(os.environ["CUDA_VISIBLE_DEVICES"])
        while Path("hold").exists():
            time.sleep(0.01)
        run.log({"error": run["x"]}, step=0)
    """


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSmi:
    smi = FakeSmi(tmp_path / "smi", UUIDS)
    monkeypatch.setenv("PATH", f"{smi.folder}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    return smi


@pytest.fixture
def foreigner() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is none of ours."""
    with subprocess.Popen(["sleep", "601"]) as process:
        yield process
        process.kill()


def write(bench: Bench, gpus: int = 1, trials: int = 3, **changes: object) -> None:
    bench.write_program(PROGRAM)
    (bench.folder / "hold").touch()
    # As many processors as are wished: the devices alone decide how many trials run.
    bench.write_study(scientific={}, trials=trials, resources={"cpus": 1, "gpus": gpus}, **changes)


def saw(bench: Bench) -> list[str]:
    return sorted(path.read_text() for path in bench.folder.glob("saw-*"))


def release(bench: Bench, run: Running) -> str:
    (bench.folder / "hold").unlink()
    done = run.wait()
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    return done.err


def test_each_trial_sees_one_device(bench: Bench, smi: FakeSmi) -> None:
    write(bench)
    run = bench.start("run", "study.yaml", "--workers", "8")
    until(lambda: saw(bench) == ["0", "1", "2"], "three trials at a time")
    assert "3 workers" in release(bench, run)
    assert bench.results().counts() == {"complete": 3}


def test_joined_workers_get_devices_of_their_own(bench: Bench, smi: FakeSmi) -> None:
    write(bench)
    run = bench.start("run", "study.yaml", "--workers", "1")
    until(lambda: saw(bench) == ["0"], "the first trial")
    assert bench.run("run", "study.yaml", "--join", "--workers", "9").code == 0
    until(lambda: saw(bench) == ["0", "1", "2"], "the others")
    release(bench, run)


def test_a_command_for_several_devices(bench: Bench, smi: FakeSmi) -> None:
    """As `torchrun --nproc-per-node=2` is started: the launcher and its ranks see both."""
    (bench.folder / "train.sh").write_text(
        'echo "$CUDA_VISIBLE_DEVICES $MASTER_PORT" > "$1/saw"; echo "error 0.5"\n'
    )
    bench.write_study(
        scientific={},
        trials=2,
        program=None,
        command=["sh", "train.sh", "{run_dir}", "{x}"],
        metrics={"pattern": r"^error (?P<error>\S+)"},
        resources={"gpus": 2},
    )
    text = (bench.folder / "study.yaml").read_text().replace(' "program": null,\n', "")
    (bench.folder / "study.yaml").write_text(text)
    done = bench.run_study("--workers", "5")
    assert done.code == 0, done.err
    assert "1 worker" in done.err
    for record in bench.results():
        devices, port = (Path(record.attempts[0].folder) / "run" / "saw").read_text().split()
        assert devices == "0,1"
        assert int(port) > 0


def test_more_devices_than_there_are(bench: Bench, smi: FakeSmi) -> None:
    write(bench, gpus=4)
    done = bench.run_study()
    assert done.code != 0
    assert "a trial needs 4 gpus, but this machine shows 3" in done.err


def test_inline_sees_what_its_process_sees(bench: Bench, smi: FakeSmi) -> None:
    write(bench, trials=1)
    (bench.folder / "hold").unlink()
    assert bench.run_study("--inline").code == 0
    assert saw(bench) == ["0,1,2"]


def test_a_foreign_process_keeps_trials_away(
    bench: Bench, smi: FakeSmi, foreigner: subprocess.Popen[bytes]
) -> None:
    smi.put(UUIDS[1], foreigner.pid, "9000 MiB", "sleep")
    write(bench)
    run = bench.start("run", "study.yaml", "--workers", "3")
    until(lambda: "GPU 1 is not used" in run.err.read_text(), "the notice")
    assert saw(bench) == ["0", "2"]
    smi.clear()
    until(lambda: saw(bench) == ["0", "1", "2"], "the third trial")
    told = release(bench, run)
    assert (
        f"GPU 1 is not used: process {foreigner.pid} (sleep 601) uses 9000 MiB of its memory, "
        "since before this run." in told
    )
    assert "GPU 1 is free again" in told
    assert told.count("GPU 1 is not used") == 1


def test_shared_on_request(bench: Bench, smi: FakeSmi, foreigner: subprocess.Popen[bytes]) -> None:
    smi.put(UUIDS[1], foreigner.pid, "9000 MiB", "sleep")
    write(bench)
    run = bench.start("run", "study.yaml", "--workers", "3", "--share-gpus")
    until(lambda: saw(bench) == ["0", "1", "2"], "all three")
    assert "not used" not in release(bench, run)


def test_who_is_left_behind_is_named_with_the_trial(
    bench: Bench, smi: FakeSmi, foreigner: subprocess.Popen[bytes]
) -> None:
    write(bench, trials=2)
    run = bench.start("run", "study.yaml", "--workers", "1")
    until(lambda: saw(bench) == ["0"], "the first trial")
    # By the time the trial ends, somebody has got away from it.
    smi.put(UUIDS[0], foreigner.pid, "[N/A]", "sleep")
    (bench.folder / "hold").unlink()
    until(lambda: "since trial 1 ended there" in run.err.read_text(), "the notice")
    assert saw(bench) == ["0"]
    smi.clear()
    assert run.wait().code == 0
    assert bench.results().counts() == {"complete": 2}


def test_a_run_that_waits_for_a_device_can_be_left(
    bench: Bench, smi: FakeSmi, foreigner: subprocess.Popen[bytes]
) -> None:
    for uuid in UUIDS:
        smi.put(uuid, foreigner.pid, "1 MiB", "sleep")
    write(bench, trials=2)
    (bench.folder / "hold").unlink()
    run = bench.start("run", "study.yaml", "--workers", "3")
    until(lambda: run.err.read_text().count("is not used") == 3, "the notices")
    run.process.send_signal(signal.SIGINT)
    done = run.wait()
    assert done.code == 130
    assert saw(bench) == []
    assert bench.results().counts() == {"preempted": 1}
    smi.clear()
    assert bench.run_study().code == 0
    assert bench.results().counts() == {"complete": 2}
    bench.is_quiet()


def test_living_trials_are_adopted_though_they_sit_on_their_devices(
    bench: Bench, smi: FakeSmi
) -> None:
    write(bench, trials=2)
    first = bench.start("run", "study.yaml", "--workers", "2")
    until(lambda: saw(bench) == ["0", "1"], "both trials")
    keepers = [bench.keeper(1), bench.keeper(2)]
    first.process.kill()
    for uuid, keeper in zip(UUIDS, keepers, strict=False):
        smi.put(uuid, bench.mark.children(keeper)[0], "1 MiB", "python")
    second = bench.start("run", "study.yaml", "--workers", "2")
    until(lambda: "2 workers" in second.err.read_text(), "the second run")
    assert "not used" not in release(bench, second)
    results = bench.results()
    assert results.counts() == {"complete": 2}
    assert [len(record.attempts) for record in results] == [1, 1]
