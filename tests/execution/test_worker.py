"""How training functions end, one by one, in this process."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from attempts import (
    TERMS,
    attempt_in,
    curve,
    in_a_child,
    outcome,
    outcomes,
    read,
    spec_in,
    terms,
    train_here,
)
from tunebook.core.protocols import Run, TrainFunction
from tunebook.core.study import Budget
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import current, here, memory, worker
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest

COMPLETE, FAILED = OutcomeKind.COMPLETE, OutcomeKind.FAILED
DIVERGED = (OutcomeKind.INFEASIBLE, Cause.DIVERGED)


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    return spec_in(tmp_path)


def raising(error: BaseException) -> TrainFunction:
    def train(run: Run) -> NoReturn:
        raise error

    return train


def returning(value: object, *logged: float) -> TrainFunction:
    def train(run: Run) -> object:
        for number in logged:
            run.log({"loss": number})
        return value

    return train


def test_complete(spec: Spec) -> None:
    events = train_here(returning(None, 1.0, 0.5), spec)
    assert outcome(events) == Outcome(COMPLETE, "finished")
    assert curve(events) == [(0, 1.0), (1, 0.5)]


@pytest.mark.parametrize(
    ("logged", "text"),
    [
        ({}, "it logged nothing and returned nothing"),
        ({"valid/loss": 1.0, "accuracy": 0.5}, "it logged accuracy, valid/loss"),
    ],
)
def test_a_missing_metric(spec: Spec, logged: Mapping[str, float], text: str) -> None:
    ended = outcome(train_here(lambda run: run.log(logged), spec))
    assert ended == Outcome(FAILED, f"the objective's metric 'loss' was never logged; {text}")


@pytest.mark.parametrize("value", [0.25, 1, np.float32(0.25), np.array([0.25])])
def test_a_returned_number(spec: Spec, value: Any) -> None:
    events = train_here(returning(value), spec)
    assert outcome(events).kind is COMPLETE
    assert curve(events) == [(0, float(np.asarray(value).item()))]


def test_a_returned_number_does_not_replace_what_was_logged(spec: Spec) -> None:
    events = train_here(returning(7.0, 1.0, 0.5), spec)
    assert outcome(events).kind is COMPLETE
    assert curve(events) == [(0, 1.0), (1, 0.5)]


def test_a_returned_number_belongs_to_the_last_step(spec: Spec) -> None:
    def train(run: Run) -> float:
        run.log({"train": 1.0}, step=41)
        return 0.5

    events = train_here(train, spec)
    assert curve(events) == [(41, 0.5)]


def test_a_returned_mapping(spec: Spec) -> None:
    def train(run: Run) -> dict[object, object]:
        run.log({"accuracy": 0.5}, step=3)
        return {"loss": 0.25, "accuracy": 0.9, "model": "weights.pt", 7: 1.0, "time": np.int64(3)}

    events = train_here(train, spec)
    assert outcome(events).kind is COMPLETE
    assert curve(events) == [(3, 0.25)]
    assert curve(events, "accuracy") == [(3, 0.5)]
    assert curve(events, "time") == [(3, 3.0)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"loss": float("nan")}])
@pytest.mark.parametrize("logged", [(), (1.0, 0.5)])
def test_a_returned_nan(spec: Spec, value: object, logged: tuple[float, ...]) -> None:
    events = train_here(returning(value, *logged), spec)
    ended = outcome(events)
    assert (ended.kind, ended.cause) == DIVERGED
    assert ended.reason in (
        f"loss became nan at step {len(logged)}",
        f"loss became inf at step {len(logged)}",
    )
    assert curve(events)[: len(logged)] == list(enumerate(logged))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0.5", "'0.5'"),
        (b"0.5", "b'0.5'"),
        (True, "True"),
        (1j, "1j"),
        ([0.5], "[0.5]"),
        ({"loss": "low"}, "{'loss': 'low'}"),
        ({"other": None}, "{'other': None}"),
        (object, "<class 'object'>"),
    ],
)
def test_returned_rubbish(spec: Spec, value: object, shown: str) -> None:
    ended = outcome(train_here(returning(value), spec))
    assert ended.kind is FAILED
    assert ended.reason == (
        f"the objective's metric 'loss' was never logged; it logged nothing and returned {shown}"
    )


def test_row_24_an_exception(spec: Spec) -> None:
    ended = outcome(train_here(raising(ValueError("the batch is empty")), spec))
    assert ended.kind is FAILED
    assert ended.reason.startswith("ValueError: the batch is empty (test_worker.py:")
    line = int(ended.reason.removesuffix(")").rpartition(":")[2])
    assert Path(__file__).read_text().splitlines()[line - 1].strip() == "raise error"
    assert ended.detail.startswith("Traceback (most recent call last):")
    assert ended.detail.endswith("ValueError: the batch is empty\n")


def test_row_24_an_exception_in_a_library_is_placed_in_the_user_s_code(spec: Spec) -> None:
    def train(run: Run) -> None:
        np.zeros(3).reshape(2, 2)
        np.linalg.inv(np.zeros((2, 2)))

    ended = outcome(train_here(train, spec))
    assert "(test_worker.py:" in ended.reason

    def deep(run: Run) -> None:
        np.linalg.inv(np.zeros((2, 2)))

    ended = outcome(train_here(deep, spec_in(spec.folder / "other")))
    assert ended.reason.startswith("LinAlgError: Singular matrix (test_worker.py:")
    assert "numpy" in ended.detail


def test_row_24_an_exception_without_a_text(spec: Spec) -> None:
    ended = outcome(train_here(raising(KeyError()), spec))
    assert ended.reason.startswith("KeyError (test_worker.py:")


def test_row_24_an_exception_that_cannot_speak(spec: Spec) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    ended = outcome(train_here(raising(Mute()), spec))
    assert ended.reason.startswith("Mute (test_worker.py:")
    assert "<exception str() failed>" in ended.detail


def test_row_24_a_long_story_is_cut(spec: Spec) -> None:
    def recurse(run: Run) -> None:
        raise ValueError("x" * 100_000)

    ended = outcome(train_here(recurse, spec))
    assert len(ended.reason) < 400
    assert len(ended.detail) == 8000


def test_row_24_points_before_an_exception_are_kept(spec: Spec) -> None:
    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        raise RuntimeError("no")

    assert curve(train_here(train, spec)) == [(0, 1.0)]


@pytest.mark.parametrize("error", [GeneratorExit(), RecursionError("deep"), StopIteration(3)])
def test_row_24_any_exception_is_the_program_s(spec: Spec, error: BaseException) -> None:
    assert outcome(train_here(raising(error), spec)).kind is FAILED


@pytest.mark.parametrize("code", [0, None])
def test_leaving_by_sys_exit_is_no_failure(spec: Spec, code: object) -> None:
    def train(run: Run) -> None:
        run.log({"loss": 1.0})
        sys.exit(code)  # type: ignore[arg-type]

    assert outcome(train_here(train, spec)) == Outcome(COMPLETE, "finished")


@pytest.mark.parametrize("code", [3, "no data"])
def test_leaving_by_sys_exit_with_a_code(spec: Spec, code: object) -> None:
    ended = outcome(train_here(raising(SystemExit(code)), spec))
    assert ended.kind is FAILED
    assert ended.reason.startswith(f"the program left with exit code {code} (test_worker.py:")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        np._core._exceptions._ArrayMemoryError((10**9,), np.dtype("f8")),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:118] err == 0. "
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8000000000 bytes."
        ),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("std::bad_alloc"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        ValueError("INTERNAL: CUDA_ERROR_OUT_OF_MEMORY while creating a context"),
        RuntimeError("cudaErrorMemoryAllocation"),
        type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory. GPU 0 has 79.10 GiB"),
        OSError(12, "Cannot allocate memory"),
        ValueError("RESOURCE_EXHAUSTED: Out of memory allocating 123 bytes"),
    ],
)
def test_out_of_memory(spec: Spec, error: Exception) -> None:
    ended = outcome(train_here(raising(error), spec))
    assert (ended.kind, ended.cause) == (OutcomeKind.INFEASIBLE, Cause.OUT_OF_MEMORY)
    assert ended.reason.startswith(f"out of memory: {type(error).__name__}")
    assert ended.detail.startswith("Traceback")


def test_a_keyboard_interrupt(spec: Spec) -> None:
    ended = outcome(train_here(raising(KeyboardInterrupt()), spec))
    assert ended == Outcome(OutcomeKind.PREEMPTED, "interrupted")


def test_infeasible(spec: Spec) -> None:
    ended = outcome(train_here(lambda run: run.infeasible("a depth of 0"), spec))
    assert ended == Outcome(OutcomeKind.INFEASIBLE, "a depth of 0", Cause.REPORTED)


@pytest.mark.parametrize("stubborn", [True, False])
def test_a_program_that_catches_everything_still_ends(spec: Spec, stubborn: bool) -> None:
    def train(run: Run) -> float | None:
        for value in (1.0, float("nan"), 0.5):
            try:
                run.log({"loss": value})
            except BaseException:
                if not stubborn:
                    raise
        return 0.5 if stubborn else None

    events = train_here(train, spec)
    assert outcome(events).reason == "loss became nan at step 1"
    assert len(curve(events)) == 2


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("stop", OutcomeKind.STOPPED),
        ("preempt", OutcomeKind.PREEMPTED),
        ("cancel", OutcomeKind.CANCELLED),
    ],
)
def test_a_request_that_was_obeyed(spec: Spec, kind: Any, expected: OutcomeKind) -> None:
    def train(run: Run) -> None:
        step = 0
        while not run.should_stop:
            run.log({"loss": 1.0}, step)
            if step == 5:
                StopRequest(kind, "somebody said so", 30.0).write(spec.folder)
            step += 1
        with run.checkpoint(step - 1):
            pass
        assert run.should_stop

    events = train_here(train, spec)
    last, _ = curve(events)[-1]
    assert last >= 5
    assert outcome(events) == Outcome(expected, f"somebody said so at step {last}")
    assert (spec.folder / "checkpoints" / str(last)).is_dir()


def test_a_request_before_the_first_step(spec: Spec) -> None:
    def train(run: Run) -> None:
        StopRequest("preempt", "interrupted", 1.0).write(spec.folder)
        while not run.should_stop:
            pass

    assert outcome(train_here(train, spec)) == Outcome(OutcomeKind.PREEMPTED, "interrupted")


@pytest.mark.parametrize("budget", [Budget(3), Budget(1e-9, "seconds")])
def test_a_request_that_came_too_late(tmp_path: Path, budget: Budget) -> None:
    request = StopRequest("preempt", "interrupted", 1.0)

    def train(run: Run) -> None:
        for step in range(3):
            run.log({"loss": 1.0}, step)
        assert run.should_stop

    events = train_here(train, spec_in(tmp_path, given=terms(budget)), lambda: request)
    assert outcome(events) == Outcome(COMPLETE, "finished")


def test_a_budget_of_seconds_is_complete(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        while not run.should_stop:
            run.log({"loss": 1.0})

    spec = spec_in(tmp_path, given=terms(Budget(0.02, "seconds")))
    assert outcome(train_here(train, spec)) == Outcome(COMPLETE, "finished")


def test_the_current_run_is_known_inside_it(spec: Spec) -> None:
    seen = []

    def train(run: Run) -> float:
        seen.append(current.get_run() is run)
        return 1.0

    assert current.get_run() is None
    train_here(train, spec)
    assert seen == [True]
    assert current.get_run() is None


def draw(run: Run) -> dict[str, float]:
    return {"loss": random.random(), "numpy": float(np.random.rand())}


def test_the_seed_decides_what_is_drawn(tmp_path: Path) -> None:
    drawn = []
    for trial, seed in enumerate((7, 7, 8), 1):
        spec = Spec(attempt_in(tmp_path, trial, seed=seed), TERMS)
        events = train_here(draw, spec)
        drawn.append([curve(events, name, trial) for name in ("loss", "numpy")])
    first, second, third = drawn
    assert first == second
    assert first[0] != third[0]
    assert first[1] != third[1]


def test_a_worker_finds_its_slot(tmp_path: Path) -> None:
    spec = spec_in(tmp_path, slot=Slot(3, cpus=5, gpus=("1", "4"), memory=2**40))

    def child() -> bool:
        worker.prepare(spec)
        return (
            os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "5"
            and os.environ["CUDA_VISIBLE_DEVICES"] == "1,4"
            and os.environ["TUNEBOOK_ATTEMPT"] == str(spec.folder)
        )

    assert in_a_child(child)


def test_a_process_out_of_memory_can_say_so(spec: Spec) -> None:
    def child() -> bool:
        memory.limit_data(50 << 20)
        begun = here.begin(spec)
        assert begun is not None
        worker.train(lambda run: bytes(200 << 20), begun.run)
        return True

    assert in_a_child(child)
    ended = outcome(read(spec))
    assert (ended.reason, ended.cause) == ("out of memory: MemoryError", Cause.OUT_OF_MEMORY)


def test_sigterm_asks_to_leave_and_ends_children_as_usual(spec: Spec) -> None:
    spec.write()

    def died_of_sigterm() -> bool:
        grandchild = os.fork()
        if grandchild == 0:
            time.sleep(60)
            os._exit(0)
        os.kill(grandchild, signal.SIGTERM)
        return os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) == -signal.SIGTERM

    def child() -> bool:
        worker._obey_termination(spec)
        died = all(died_of_sigterm() for _ in range(50))
        untouched = StopRequest.read(spec.folder) is None
        os.kill(os.getpid(), signal.SIGTERM)
        return died and untouched

    assert in_a_child(child)
    asked = StopRequest.read(spec.folder)
    assert asked is not None
    assert (asked.kind, asked.reason) == ("preempt", "the system asked it to leave")


def test_a_program_that_cannot_be_loaded_has_failed(spec: Spec) -> None:
    class Broken:
        reference = "train.py:train"

        def load(self) -> TrainFunction:
            raise ImportError("no module")

    ended = outcome(train_here(worker._load(Broken()), spec))
    assert ended.kind is FAILED
    assert ended.reason.startswith("ImportError: no module")


def test_every_outcome_is_told_once(tmp_path: Path) -> None:
    events = train_here(returning(1.0), spec_in(tmp_path))
    assert len(outcomes(events)) == 1
