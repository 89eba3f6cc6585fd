"""The keeper: it holds the lock, ends what must end, and has the last word."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from attempts import curve, is_alive, outcome, read, spec_in, wait_for
from tunebook.core.events import Started
from tunebook.core.protocols import Run, TrainFunction
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import beginning, family, keeper, memory, worker
from tunebook.execution.journal import Journal
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest
from tunebook.files import locks

MB = 1 << 20
# Named by Python from 3.12 on.
MAP_NORESERVE = 0x4000


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    spec = spec_in(tmp_path)
    spec.write()
    return spec


def start(function: TrainFunction, spec: Spec) -> int:
    """A keeper with a worker that runs a function; its process id."""

    def live() -> None:
        # pytest catches output before it comes to the descriptors, which a worker redirects.
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        keeper.keep(spec, lambda: worker.work(function, spec))

    return family.fork(live)


def keep(function: TrainFunction, spec: Spec) -> Outcome:
    """How an attempt ended that a keeper saw through; nothing of it lives."""
    assert wait(start(function, spec)) == 0
    assert not locks.is_held(spec.lock)
    return outcome(read(spec))


def wait(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def log_and(then: Callable[[], object]) -> TrainFunction:
    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        print("before the end")
        then()

    return train


def test_complete(spec: Spec) -> None:
    assert keep(lambda run: run.log({"loss": 1.0}), spec).kind is OutcomeKind.COMPLETE
    first, *_ = events = read(spec)
    assert isinstance(first, Started)
    assert curve(events) == [(0, 1.0)]


def test_a_process_that_leaves(spec: Spec) -> None:
    ended = keep(log_and(lambda: os._exit(3)), spec)
    assert ended.kind is OutcomeKind.FAILED
    assert ended.reason == "the process left with exit code 3 before the trial had ended"
    assert ended.detail == "before the end\n"


def test_a_process_that_kills_itself(spec: Spec) -> None:
    ended = keep(log_and(lambda: os.kill(os.getpid(), signal.SIGKILL)), spec)
    assert ended.kind is OutcomeKind.CRASHED
    assert ended.reason == "the process was killed by SIGKILL"


def test_a_segmentation_fault_shows_where(spec: Spec) -> None:
    ended = keep(log_and(lambda: ctypes.string_at(0)), spec)
    assert ended.kind is OutcomeKind.CRASHED
    assert ended.reason == "the process died of a segmentation fault"
    assert "Fatal Python error: Segmentation fault" in ended.detail
    assert "test_keeper.py" in ended.detail


def test_a_signal_without_a_name(spec: Spec) -> None:
    ended = keep(log_and(lambda: os.kill(os.getpid(), 40)), spec)
    assert ended.reason == "the process was killed by signal 40"


def test_memory_of_one_process(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, slot=Slot(memory=100 * MB))
    spec.write()
    ended = keep(log_and(lambda: bytes(500 * MB)), spec)
    assert (ended.kind, ended.cause) == (OutcomeKind.INFEASIBLE, Cause.OUT_OF_MEMORY)
    assert ended.reason == "out of memory: MemoryError"


def test_memory_of_several_processes_together(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, slot=Slot(memory=120 * MB))
    spec.write()

    def hog() -> None:
        kept = bytearray(b"x") * (50 * MB)
        while kept:
            time.sleep(60)

    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        for _ in range(4):
            family.fork(hog)
        time.sleep(60)

    ended = keep(train, spec)
    assert (ended.kind, ended.cause) == (OutcomeKind.INFEASIBLE, Cause.OUT_OF_MEMORY)
    assert ended.reason.startswith("its processes used ")
    assert ended.reason.endswith(" MB, the limit is 120 MB")


def test_a_worker_within_its_memory_is_left_alone(tmp_path: Path) -> None:
    # The worker is a fork of this process, and shares what other tests have left in it.
    own = memory.private_bytes(os.getpid())
    spec = spec_in(tmp_path, slot=Slot(memory=200 * MB + own))
    spec.write()

    def train(run: Run) -> None:
        kept = bytearray(b"x") * (50 * MB)
        time.sleep(0.6)
        run.log({"loss": len(kept)})

    assert keep(train, spec).kind is OutcomeKind.COMPLETE


def reserve(protection: int) -> Callable[[], None]:
    """Address space of a terabyte that is never used, as CUDA takes it at its start."""

    def take() -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        with mmap.mmap(-1, 1 << 40, flags=flags, prot=protection) as taken:
            # As long as the keeper needs to look at what is used.
            time.sleep(0.6 if len(taken) else 0.0)

    return take


@pytest.mark.parametrize(
    ("gpus", "protection"),
    [((), 0), (("0",), 0), (("0",), mmap.PROT_READ | mmap.PROT_WRITE)],
)
def test_memory_that_is_reserved_is_not_used(
    tmp_path: Path, gpus: tuple[str, ...], protection: int
) -> None:
    own = memory.private_bytes(os.getpid())
    spec = spec_in(tmp_path, slot=Slot(gpus=gpus, memory=100 * MB + own))
    spec.write()
    ended = keep(log_and(reserve(protection)), spec)
    assert ended.kind is OutcomeKind.COMPLETE, ended


def test_memory_beside_an_accelerator_is_limited_by_what_is_used(tmp_path: Path) -> None:
    own = memory.private_bytes(os.getpid())
    spec = spec_in(tmp_path, slot=Slot(gpus=("0",), memory=100 * MB + own))
    spec.write()

    def use() -> None:
        reserve(mmap.PROT_READ | mmap.PROT_WRITE)()
        # What it shares with this process counts in part: it must exceed the limit by itself.
        kept = bytearray(b"x") * (300 * MB + own)
        while kept:
            time.sleep(60)

    ended = keep(log_and(use), spec)
    assert (ended.kind, ended.cause) == (OutcomeKind.INFEASIBLE, Cause.OUT_OF_MEMORY)
    assert ended.reason.startswith("its processes used ")


def ignore_requests(run: Run) -> None:
    run.log({"loss": 1.0})
    while True:
        time.sleep(60)


def obey_requests(run: Run) -> None:
    run.log({"loss": 1.0})
    while not run.should_stop:
        run.log({"loss": 1.0})
        time.sleep(0.005)
    with run.checkpoint(run.last_step) as folder:  # type: ignore[attr-defined]
        (folder / "weights").write_text("w")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("stop", OutcomeKind.STOPPED),
        ("preempt", OutcomeKind.PREEMPTED),
        ("cancel", OutcomeKind.CANCELLED),
    ],
)
def test_a_request_that_is_ignored(spec: Spec, kind: str, expected: OutcomeKind) -> None:
    pid = start(ignore_requests, spec)
    wait_for(lambda: beginning.has_begun(spec))
    StopRequest(kind, "somebody said so", 0.2).write(spec.folder)  # type: ignore[arg-type]
    assert wait(pid) == 0
    assert outcome(read(spec)) == Outcome(expected, "somebody said so; ended after 0.2 s")


def test_a_more_urgent_request_may_follow(spec: Spec) -> None:
    pid = start(ignore_requests, spec)
    wait_for(lambda: beginning.has_begun(spec))
    StopRequest("stop", "take your time", 600.0).write(spec.folder)
    time.sleep(0.3)
    assert is_alive(pid)
    StopRequest("preempt", "leave now", 0.0).write(spec.folder)
    assert wait(pid) == 0
    assert outcome(read(spec)) == Outcome(OutcomeKind.PREEMPTED, "leave now; ended after 0 s")


def test_a_request_that_is_obeyed(spec: Spec) -> None:
    pid = start(obey_requests, spec)
    wait_for(lambda: beginning.has_begun(spec))
    StopRequest("preempt", "interrupted", 60.0).write(spec.folder)
    assert wait(pid) == 0
    events = read(spec)
    last, _ = curve(events)[-1]
    assert outcome(events) == Outcome(OutcomeKind.PREEMPTED, f"interrupted at step {last}")
    assert (spec.folder / "checkpoints" / str(last) / "weights").exists()


def worker_of(pid: int) -> int:
    wait_for(lambda: psutil.Process(pid).children(), "the worker")
    return int(psutil.Process(pid).children()[0].pid)


@pytest.mark.parametrize("whom", ["keeper", "worker", "both"])
def test_row_22_sigterm_asks_to_leave(spec: Spec, whom: str) -> None:
    pid = start(obey_requests, spec)
    work = worker_of(pid)
    wait_for(lambda: handles_sigterm(work), "the handler")
    for process in {"keeper": [pid], "worker": [work], "both": [pid, work]}[whom]:
        os.kill(process, signal.SIGTERM)
    assert wait(pid) == 0
    events = read(spec)
    last, _ = curve(events)[-1]
    reason = f"the system asked it to leave at step {last}"
    assert outcome(events) == Outcome(OutcomeKind.PREEMPTED, reason)


def handles_sigterm(pid: int) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) & 1 << signal.SIGTERM - 1)


def test_row_22_who_ignores_sigterm_is_ended(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    soon = StopRequest("preempt", "the system asked it to leave", 0.2)
    monkeypatch.setattr(keeper, "ON_TERMINATION", soon)
    pid = start(ignore_requests, spec)
    wait_for(lambda: beginning.has_begun(spec))
    worker_of(pid)
    os.kill(pid, signal.SIGTERM)
    assert wait(pid) == 0
    reason = "the system asked it to leave; ended after 0.2 s"
    assert outcome(read(spec)) == Outcome(OutcomeKind.PREEMPTED, reason)


def test_row_22_a_program_with_a_handler_of_its_own_dies_of_sigterm(spec: Spec) -> None:
    def train(run: Run) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    assert keep(train, spec) == Outcome(OutcomeKind.PREEMPTED, "the system asked it to leave")


def leave_children_behind(note: Path) -> Callable[[], None]:
    """A grandchild in a session of its own, and a daemon."""

    def grandchild() -> None:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (note / "grandchild").write_text(str(os.getpid()))
        while True:
            time.sleep(60)

    def daemon() -> None:
        os.setsid()
        pid = family.fork(grandchild_of_daemon)
        (note / "daemon").write_text(str(pid))

    def grandchild_of_daemon() -> None:
        while True:
            time.sleep(60)

    def leave() -> None:
        family.fork(grandchild)
        os.waitpid(family.fork(daemon), 0)
        wait_for(lambda: (note / "grandchild").exists() and (note / "grandchild").read_text())

    return leave


def left_behind(note: Path) -> list[int]:
    return [int((note / name).read_text()) for name in ("grandchild", "daemon")]


@pytest.mark.parametrize("ending", ["return", "exit", "kill", "stop"])
def test_row_33_nothing_lives_after_the_attempt(tmp_path: Path, spec: Spec, ending: str) -> None:
    leave = leave_children_behind(tmp_path)

    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        leave()
        if ending == "exit":
            os._exit(3)
        elif ending == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif ending == "stop":
            StopRequest("stop", "now", 0.0).write(spec.folder)
            time.sleep(60)

    ended = keep(train, spec)
    assert not any(map(is_alive, left_behind(tmp_path)))
    expected = {"return": "complete", "exit": "failed", "kill": "crashed", "stop": "stopped"}
    assert ended.kind == expected[ending]


def test_the_lock_is_held_as_long_as_anything_lives(tmp_path: Path, spec: Spec) -> None:
    """The outcome is in the spool while a child lives on; the lock says that it is not over."""

    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        leave_children_behind(tmp_path)()

    pid = start(train, spec)
    wait_for(lambda: (tmp_path / "daemon").exists() and not locks.is_held(spec.lock))
    assert not any(map(is_alive, left_behind(tmp_path)))
    assert wait(pid) == 0


def test_row_33_a_worker_dies_with_its_keeper(spec: Spec) -> None:
    pid = start(ignore_requests, spec)
    work = worker_of(pid)
    wait_for(spec.output.exists)
    os.kill(pid, signal.SIGKILL)
    assert wait(pid) == -signal.SIGKILL
    wait_for(lambda: not is_alive(work), "the worker's death")
    assert not locks.is_held(spec.lock)
    assert outcome(read(spec)) == Outcome(OutcomeKind.CRASHED, "its processes died without a word")


def test_two_keepers_for_one_attempt(spec: Spec) -> None:
    def train(run: Run) -> None:
        with (spec.folder / "starts").open("a") as file:
            file.write("once\n")
        time.sleep(0.2)
        run.log({"loss": 1.0})

    keepers = [start(train, spec) for _ in range(5)]
    assert [wait(pid) for pid in keepers] == [0] * 5
    assert wait(start(train, spec)) == 0
    assert (spec.folder / "starts").read_text() == "once\n"
    events = read(spec)
    assert len([event for event in events if isinstance(event, Started)]) == 1
    assert outcome(events).kind is OutcomeKind.COMPLETE


def test_a_fenced_attempt_is_not_kept(spec: Spec) -> None:
    spec.fence.touch()
    assert wait(start(log_and(lambda: None), spec)) == 0
    assert not spec.spool.exists()


def test_what_the_program_prints_is_in_its_log(spec: Spec) -> None:
    def train(run: Run) -> None:
        print("to output")
        os.system("echo from a shell")
        print("to error", file=sys.stderr)
        run.log({"loss": 1.0})
        assert os.read(0, 1) == b""

    assert keep(train, spec).kind is OutcomeKind.COMPLETE
    assert spec.output.read_text() == "to output\nfrom a shell\nto error\n"
    assert spec.output.stat().st_mode & 0o777 == 0o600


def test_a_program_may_close_its_output(spec: Spec) -> None:
    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        sys.stdout.close()
        sys.stderr = None  # type: ignore[assignment]

    assert keep(train, spec).kind is OutcomeKind.COMPLETE


def test_only_the_end_of_a_long_log_is_told(spec: Spec) -> None:
    def train(run: Run) -> None:
        print("é" * 10_000)
        print("the end")
        os._exit(3)

    detail = keep(train, spec).detail
    assert len(detail) <= 8_000
    assert detail.endswith("é\nthe end\n")


def test_half_a_checkpoint_is_removed(spec: Spec) -> None:
    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        with run.checkpoint(1):
            pass
        with run.checkpoint(2) as folder:
            (folder / "weights").write_text("half")
            os._exit(3)

    keep(train, spec)
    assert [entry.name for entry in (spec.folder / "checkpoints").iterdir()] == ["1"]


def test_a_worker_that_cannot_write_has_crashed(
    spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Journal, "flush", broken)
    ended = keep(lambda run: run.log({"loss": 1.0}), spec)
    assert ended.kind is OutcomeKind.CRASHED
    assert ended.reason == "the process could not write down its outcome"
    assert ended.detail.endswith("OSError: [Errno 5] Input/output error\n")


def test_a_worker_is_the_leader_of_its_group(spec: Spec) -> None:
    def train(run: Run) -> None:
        assert os.getpid() == os.getpgid(0) == os.getsid(0)
        run.log({"loss": 1.0})

    assert keep(train, spec).kind is OutcomeKind.COMPLETE
