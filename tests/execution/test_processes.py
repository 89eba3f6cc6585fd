"""Attempts in processes of their own."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attempts import (
    TERMS,
    attempt_in,
    curve,
    descendants,
    go_on,
    next_started,
    outcome,
    outcomes,
    program_in,
    rest,
    run,
    running,
    terms,
    wait_for,
)
from contracts.executor_contract import UNTIL_STOPPED, ExecutorContract, Make
from tunebook.core.events import Decision, Event, Finished, Logged, Started, Tick
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import beginning
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest
from tunebook.files import locks

TWO = (Slot(0), Slot(1))


class TestProcesses(ExecutorContract):
    @pytest.fixture
    def executor(self) -> Make:
        return lambda **given: Processes(terms(**given), TWO)


def one(tmp_path: Path, text: str, slot: Slot = Slot()) -> list[Event]:  # noqa: B008
    """The events of one attempt at a program."""
    return run(Processes(TERMS, [slot]), program_in(tmp_path, text), [attempt_in(tmp_path)])


def test_attempts_run_side_by_side(tmp_path: Path) -> None:
    """Each waits for the other: one after another they would wait for ever."""
    program = program_in(
        tmp_path,
        f"""
        import time
        from pathlib import Path

        def train(run):
            place = Path({str(tmp_path)!r})
            (place / f"met {{run['me']}}").touch()
            while not (place / f"met {{3 - run['me']}}").exists():
                time.sleep(0.01)
            return 1.0
        """,
    )
    proposed = [attempt_in(tmp_path, n, config={"me": n}) for n in (1, 2)]
    ended = outcomes(run(Processes(TERMS, TWO), program, proposed))
    assert [ended[n].kind.value for n in (1, 2)] == ["complete", "complete"]


FULL = OSError(errno.ENOSPC, "No space left on device")


def test_an_attempt_without_room_for_its_file_is_begun_when_there_is_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals, told, write = [FULL, FULL], [], Spec.write

    def refused(spec: Spec) -> None:
        if refusals:
            raise refusals.pop()
        write(spec)

    monkeypatch.setattr(Spec, "write", refused)
    executor = Processes(TERMS, TWO, notice=told.append)
    attempt = attempt_in(tmp_path)
    ended = outcomes(run(executor, program_in(tmp_path, "def train(run): return 1.0"), [attempt]))
    assert ended[1].kind is OutcomeKind.COMPLETE
    (pause,) = told
    assert pause.startswith(f"Paused: no room to begin trial 1 in {attempt.folder}: its disk has ")
    assert pause.endswith(
        "bytes free. Trials that run go on, and so does the study once there is room"
    )


def test_any_other_refusal_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(spec: Spec) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Spec, "write", refuse)
    with pytest.raises(OSError, match="Input/output error"):
        one(tmp_path, "def train(run): return 1.0")


def test_on_a_full_disk_trials_are_left_to_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They can neither be asked to leave nor say how they end: the next run takes them up."""

    def refuse(*_: object) -> None:
        raise FULL

    told: list[str] = []
    text = """
        import time

        def train(run):
            while not run.should_stop:
                time.sleep(0.01)
        """
    program = program_in(tmp_path, text)
    attempt = attempt_in(tmp_path)
    decisions = [Decision.GO_ON]
    executor = Processes(TERMS, TWO, notice=told.append)
    events = executor.run(program, iter([attempt]), lambda _: decisions[-1])
    next_started(events)
    monkeypatch.setattr(StopRequest, "write", refuse)
    decisions.append(Decision.DRAIN)
    assert not any(isinstance(event, Finished) for event in events)
    assert told == [
        "1 trial cannot be asked to leave, for want of room on the disk: what goes on by itself is "
        "taken up by the next run"
    ]
    monkeypatch.undo()
    assert locks.is_held(Spec(attempt, TERMS).lock)
    StopRequest("preempt", "interrupted", 5.0).write(Path(attempt.folder))
    ended = outcomes(run(Processes(TERMS, TWO), program, [attempt]))
    assert ended[1].kind is OutcomeKind.PREEMPTED


def test_no_more_run_than_there_are_slots(tmp_path: Path) -> None:
    program = program_in(
        tmp_path, "import time\ndef train(run):\n    time.sleep(0.1)\n    return 1.0"
    )
    taken = []

    def proposals() -> Iterator[object]:
        for number in range(1, 7):
            taken.append(number)
            yield attempt_in(tmp_path, number)

    finished = 0
    for event in running(Processes(TERMS, TWO), program, proposals()):  # type: ignore[arg-type]
        finished += isinstance(event, Finished)
        assert len(taken) - finished <= 2 + isinstance(event, Finished)
        if isinstance(event, Tick):
            assert event.running <= 2
    assert finished == 6


def test_slots_can_be_added(tmp_path: Path) -> None:
    program = program_in(tmp_path, UNTIL_STOPPED)
    more = iter([[Slot(1)]])
    most = 0

    def decide(event: Event) -> Decision:
        nonlocal most
        most = max(most, event.running) if isinstance(event, Tick) else most
        return Decision.DRAIN if most == 2 else Decision.GO_ON

    executor = Processes(TERMS, [Slot(0)], added=lambda: next(more, ()))
    proposed = [attempt_in(tmp_path, n) for n in range(1, 9)]
    assert len(outcomes(run(executor, program, proposed, decide))) == 2


def test_a_slot_is_what_the_program_finds(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = program_in(
        tmp_path,
        """
        import os
        import torch
        torch.rand(300, 300) @ torch.rand(300, 300)

        def train(run):
            run.log({"loss": torch.get_num_threads(), "omp": int(os.environ["OMP_NUM_THREADS"])})
            run.log({"gpu": int(os.environ["CUDA_VISIBLE_DEVICES"]), "drawn": torch.rand(())})
            # A threaded operation works in a forked process.
            a = torch.rand(300, 300)
            run.log({"sum": (a @ a).sum()})
        """,
    )
    slots = [Slot(0, cpus=2, gpus=("3",)), Slot(1, cpus=1, gpus=("5",))]
    proposed = [attempt_in(tmp_path, n, seed=seed) for n, seed in enumerate((7, 7, 8, 7), 1)]
    notices: list[str] = []
    events = run(Processes(TERMS, slots, notice=notices.append), program, proposed)
    assert {ended.kind.value for ended in outcomes(events).values()} == {"complete"}
    found = {
        tuple(curve(events, name, n)[0][1] for name in ("loss", "omp", "gpu")) for n in range(1, 5)
    }
    assert found == {(2.0, 2.0, 3.0), (1.0, 1.0, 5.0)}
    assert notices == []
    first, second, third, fourth = (curve(events, "drawn", n) for n in range(1, 5))
    assert first == second == fourth != third


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("os._exit(3)", "failed", "the process left with exit code 3 before the trial had ended"),
        ("os.kill(os.getpid(), 9)", "crashed", "the process was killed by SIGKILL"),
        ("ctypes.string_at(0)", "crashed", "the process died of a segmentation fault"),
        ("os.abort()", "crashed", "the process died of an abort"),
    ],
)
def test_a_process_that_dies_does_not_touch_the_others(
    tmp_path: Path, text: str, kind: str, reason: str
) -> None:
    program = program_in(
        tmp_path,
        f"""
        import ctypes, os, time

        def train(run):
            run.log({{"loss": 1.0}})
            if run["dies"]:
                {text}
            time.sleep(0.2)
        """,
    )
    proposed = [attempt_in(tmp_path, n, config={"dies": n == 1}) for n in (1, 2)]
    ended = outcomes(run(Processes(TERMS, TWO), program, proposed))
    assert (ended[1].kind.value, ended[1].reason) == (kind, reason)
    assert ended[2].kind is OutcomeKind.COMPLETE


def test_memory_is_limited(tmp_path: Path) -> None:
    text = """
    import numpy

    def train(run):
        run.log({"loss": 1.0})
        numpy.ones(10**9)
    """
    ended = outcome(one(tmp_path, text, Slot(memory=200 << 20)))
    assert (ended.kind, ended.cause) == (OutcomeKind.INFEASIBLE, Cause.OUT_OF_MEMORY)
    assert ended.reason.startswith("out of memory: MemoryError: Unable to allocate 7.45 GiB")
    assert ended.detail.startswith("Traceback")


def test_whoever_ignores_a_request_is_ended(tmp_path: Path) -> None:
    program = program_in(
        tmp_path,
        "import time\ndef train(run):\n    run.log({'loss': 1.0})\n    time.sleep(600)",
    )

    def decide(event: Event) -> Decision:
        return Decision.STOP if isinstance(event, Logged) else Decision.GO_ON

    executor = Processes(TERMS, TWO, grace=0.3)
    ended = outcome(run(executor, program, [attempt_in(tmp_path)], decide))
    assert ended == Outcome(OutcomeKind.STOPPED, "stopped by a rule; ended after 0.3 s")


def test_aborting_ends_every_attempt_at_once(tmp_path: Path) -> None:
    program = program_in(tmp_path, "import time\ndef train(run):\n    time.sleep(600)")
    started = 0

    def decide(event: Event) -> Decision:
        nonlocal started
        started += isinstance(event, Started)
        if not isinstance(event, Tick) or started < 2:
            return Decision.GO_ON
        # Ctrl-C once, and once more.
        started += 1
        return Decision.DRAIN if started == 3 else Decision.ABORT

    proposed = [attempt_in(tmp_path, n) for n in (1, 2, 3)]
    ended = outcomes(run(Processes(TERMS, TWO), program, proposed, decide))
    assert ended == dict.fromkeys(
        (1, 2), Outcome(OutcomeKind.PREEMPTED, "interrupted; ended after 0 s")
    )


def test_a_removed_folder_is_an_end(tmp_path: Path) -> None:
    program = program_in(
        tmp_path, "import time\ndef train(run):\n    time.sleep(run['seconds'])\n    return 1.0"
    )
    proposed = [attempt_in(tmp_path, config={"seconds": 1})]
    events = []
    for event in running(Processes(TERMS, TWO), program, proposed):
        events.append(event)
        if isinstance(event, Started):
            shutil.rmtree(tmp_path / "1")
    ended = outcome(events)
    assert ended.kind is OutcomeKind.CRASHED
    assert ended.reason == f"its folder {tmp_path / '1' / '1'} was removed"


COORDINATOR = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from attempts import TERMS, attempt_in, running
from tunebook.execution import programs
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot
place = Path({place!r})
program = programs.parse("train.py:train", place)
proposed = [attempt_in(place, n) for n in (1, 2)]
slots = [Slot(0, gpus=("a",)), Slot(1, gpus=("b",))]
for event in running(Processes(TERMS, slots), program, proposed):
    pass
"""

SLOW = """
    import time
    from pathlib import Path

    def train(run):
        with (run.folder / "starts").open("a") as file:
            file.write("once ")
        step = 0
        while step == 0 or not (run.folder.parent.parent / "go").exists():
            run.log({"loss": float(step)}, step)
            step += 1
            time.sleep(0.005)
"""


def orphaned(tmp_path: Path, what: str = SLOW) -> list[Spec]:
    """Two attempts whose coordinator was killed while they ran."""
    program_in(tmp_path, what)
    code = COORDINATOR.format(tests=str(Path(__file__).parents[1]), place=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code]) as coordinator:
        specs = [Spec(attempt_in(tmp_path, n), TERMS) for n in (1, 2)]
        wait_for(lambda: all((tmp_path / str(n) / "files" / "starts").exists() for n in (1, 2)))
        coordinator.kill()
    return specs


def test_row_02_a_living_attempt_is_adopted(tmp_path: Path) -> None:
    specs = orphaned(tmp_path)
    assert all(locks.is_held(spec.lock) for spec in specs)
    program = program_in(tmp_path, "def train(run):\n    raise AssertionError")
    events: list[Event] = []
    for event in running(Processes(TERMS, TWO), program, [spec.attempt for spec in specs]):
        events.append(event)
        # They go on for a while under the new coordinator.
        if len([e for e in events if isinstance(e, Logged)]) == 4:
            (tmp_path / "go").touch()
    for number in (1, 2):
        assert (tmp_path / str(number) / "files" / "starts").read_text() == "once "
        told = [e for e in events if isinstance(e, Logged) and e.attempt.trial.number == number]
        offsets = [event.offset for event in told]
        assert offsets == sorted(set(offsets))
        points = curve(events, trial=number)
        assert points == [(step, float(step)) for step in range(len(points))]
        assert len(points) > 10
    assert {ended.kind.value for ended in outcomes(events).values()} == {"complete"}
    # Everything is told to each coordinator that asks, from the beginning on.
    again = run(Processes(TERMS, TWO), program, [spec.attempt for spec in specs])
    assert curve(again) == curve(events)


def test_an_adopted_attempt_keeps_its_accelerators(tmp_path: Path) -> None:
    specs = orphaned(tmp_path)
    (tmp_path / "other").mkdir()
    program = program_in(
        tmp_path / "other",
        f"""
        import os
        from pathlib import Path

        def train(run):
            Path({str(tmp_path / "go")!r}).touch()
            run.log({{"loss": os.environ["CUDA_VISIBLE_DEVICES"] == "a"}})
        """,
    )
    # The second attempt is in slot b, so that the new one gets slot a.
    slots = [Slot(0, gpus=("a",)), Slot(1, gpus=("b",))]
    proposed = [specs[1].attempt, attempt_in(tmp_path / "other", 3)]
    events = run(Processes(TERMS, slots), program, proposed)
    assert curve(events, trial=3) == [(0, 1.0)]
    assert outcomes(run(Processes(TERMS, slots), program, [specs[0].attempt]))[1].kind == "complete"


def test_an_attempt_without_its_description_is_adopted(tmp_path: Path) -> None:
    specs = orphaned(tmp_path)
    (specs[0].folder / "attempt.json").write_bytes(b"")
    (specs[1].folder / "attempt.json").unlink()
    (tmp_path / "go").touch()
    program = program_in(tmp_path, "def train(run):\n    raise AssertionError")
    ended = outcomes(run(Processes(TERMS, TWO), program, [spec.attempt for spec in specs]))
    assert {outcome.kind.value for outcome in ended.values()} == {"complete"}


def test_a_dead_attempt_is_not_begun_again(tmp_path: Path) -> None:
    specs = orphaned(tmp_path)
    program = program_in(tmp_path, "def train(run):\n    raise AssertionError")
    events = []
    for event in running(Processes(TERMS, TWO), program, [spec.attempt for spec in specs]):
        events.append(event)
        if isinstance(event, Started):
            os.kill(event.pid, signal.SIGKILL)
    ended = outcomes(events)
    vanished = Outcome(OutcomeKind.CRASHED, "its processes died without a word")
    assert ended == {1: vanished, 2: vanished}
    for number, spec in enumerate(specs, 1):
        assert spec.fence.exists()
        assert beginning.take(spec) is None
        assert (tmp_path / str(number) / "files" / "starts").read_text() == "once "


def test_a_server_goes_when_its_coordinator_and_its_attempts_have_gone(tmp_path: Path) -> None:
    before = descendants()
    specs = orphaned(tmp_path)
    left = descendants() - before
    # A server, two keepers and two workers.
    assert len(left) == 5
    (tmp_path / "go").touch()
    wait_for(lambda: not descendants() - before, "the end of the server")
    assert not any(locks.is_held(spec.lock) for spec in specs)


MEMORY_CGROUPS = Path("/sys/fs/cgroup/memory")

IN_A_GROUP = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
Path({group!r}, "cgroup.procs").write_text(str(os.getpid()))
from attempts import TERMS, attempt_in, outcomes, run
from tunebook.execution import programs
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot
place = Path({place!r})
program = programs.parse("train.py:train", place)
proposed = [attempt_in(place, n, config={{"hog": n == 1}}) for n in (1, 2)]
events = run(Processes(TERMS, [Slot(0), Slot(1)]), program, proposed)
for number, ended in sorted(outcomes(events).items()):
    print(number, ended.kind.value, ended.cause.value, ended.reason, sep="|")
"""


@pytest.fixture
def memory_group() -> Iterator[Path]:
    """A memory control group with a small limit."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line.split(":", 2)[2] for line in lines if ":memory:" in line), None)
    group = MEMORY_CGROUPS / (own or "/").lstrip("/") / f"tunebook-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(300 << 20))
    except OSError as error:
        pytest.skip(f"no memory control group can be made here: {error}")
    yield group
    wait_for(lambda: not (group / "cgroup.procs").read_text(), "the end of the group")
    group.rmdir()


def test_row_23_the_kernel_kills_for_want_of_memory(tmp_path: Path, memory_group: Path) -> None:
    program_in(
        tmp_path,
        """
        import time

        def train(run):
            run.log({"loss": 1.0})
            kept = []
            while run["hog"]:
                kept.append(bytearray(b"x") * (10 << 20))
            time.sleep(1)
        """,
    )
    code = IN_A_GROUP.format(
        tests=str(Path(__file__).parents[1]), group=str(memory_group), place=str(tmp_path)
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1|infeasible|out of memory|the system killed the process: out of memory",
        "2|complete||finished",
    ]


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_row_07_a_full_disk_costs_a_checkpoint_and_not_the_trial(full_disk: Path) -> None:
    program = program_in(
        full_disk,
        """
        def train(run):
            for step, size in enumerate((1, 100, 1)):
                run.log({"loss": 1.0}, step)
                with run.checkpoint(step) as folder:
                    (folder / "weights").write_bytes(bytes(size << 20))
        """,
    )
    events = run(Processes(TERMS, TWO), program, [attempt_in(full_disk)])
    assert outcome(events).kind is OutcomeKind.COMPLETE
    (note,) = (getattr(event, "text", None) for event in events if hasattr(event, "text"))
    assert note == (
        "the checkpoint of step 1 was not saved, as the disk is full: "
        "[Errno 28] No space left on device"
    )
    saved = (full_disk / "1" / "1" / "checkpoints").iterdir()
    assert sorted(entry.name for entry in saved) == ["0", "2"]


def test_time_passes_while_attempts_run(tmp_path: Path) -> None:
    program = program_in(
        tmp_path, "import time\ndef train(run):\n    time.sleep(0.5)\n    return 1.0"
    )
    ticks = [
        event
        for event in running(Processes(TERMS, TWO), program, [attempt_in(tmp_path)], go_on)
        if isinstance(event, Tick)
    ]
    assert Tick(1) in ticks
    assert ticks[-1] == Tick(0)


def test_a_stopped_keeper_is_alive(tmp_path: Path) -> None:
    """Row 21: a suspended machine loses nothing."""
    program = program_in(
        tmp_path, "import time\ndef train(run):\n    time.sleep(0.2)\n    return 1.0"
    )
    events = running(Processes(TERMS, TWO), program, [attempt_in(tmp_path)])
    started = next_started(events)
    os.kill(started.pid, signal.SIGSTOP)
    try:
        deadline = time.monotonic() + 0.7
        while time.monotonic() < deadline:
            assert not isinstance(next(events), Finished)
    finally:
        os.kill(started.pid, signal.SIGCONT)
    assert outcome(rest(events)).kind is OutcomeKind.COMPLETE
