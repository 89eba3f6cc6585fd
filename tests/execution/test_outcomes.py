"""Outcomes told from what is left of an attempt. How functions end is in test_worker.py."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import family, outcomes
from tunebook.execution.spec import StopRequest


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (0, "failed", "the process left with exit code 0 before the trial had ended"),
        (3, "failed", "the process left with exit code 3 before the trial had ended"),
        (family.COULD_NOT_WRITE, "crashed", "the process could not write down its outcome"),
        (-signal.SIGKILL, "crashed", "the process was killed by SIGKILL"),
        (-signal.SIGUSR1, "crashed", "the process was killed by SIGUSR1"),
        (-40, "crashed", "the process was killed by signal 40"),
        (-signal.SIGSEGV, "crashed", "the process died of a segmentation fault"),
        (-signal.SIGBUS, "crashed", "the process died of a bus error"),
        (-signal.SIGABRT, "crashed", "the process died of an abort"),
        (-signal.SIGILL, "crashed", "the process died of an illegal instruction"),
        (-signal.SIGFPE, "crashed", "the process died of an arithmetic fault"),
        (-signal.SIGTERM, "preempted", "the system asked it to leave"),
    ],
)
def test_an_exit_without_a_word(status: int, kind: str, reason: str) -> None:
    expected = Outcome(OutcomeKind(kind), reason, detail="last lines")
    assert outcomes.of_exit(status, detail="last lines") == expected


def test_a_kill_for_want_of_memory() -> None:
    ended = outcomes.of_exit(-signal.SIGKILL, oom_killed=True)
    assert ended.reason == "the system killed the process: out of memory"
    assert (ended.kind, ended.cause) == (OutcomeKind.INFEASIBLE, Cause.OUT_OF_MEMORY)


@pytest.mark.parametrize(
    ("kind", "expected"), [("stop", "stopped"), ("preempt", "preempted"), ("cancel", "cancelled")]
)
def test_a_request_that_was_ignored(kind: Any, expected: str) -> None:
    ended = outcomes.of_request(StopRequest(kind, "stopped by a rule", 2.5))
    assert ended == Outcome(OutcomeKind(expected), "stopped by a rule; ended after 2.5 s")


def test_one_that_hangs_is_tried_again_like_a_crash() -> None:
    ended = outcomes.of_request(StopRequest("stall", "stalled: no log for 60 s", 0.0))
    assert ended == Outcome(OutcomeKind.CRASHED, "stalled: no log for 60 s; ended")


def test_the_place_of_an_error_that_never_was_raised() -> None:
    assert outcomes.place(ValueError()) == ""


def test_only_exceptions_speak_of_memory() -> None:
    ended = outcomes.of_exception(SystemExit("out of memory"))
    assert ended.kind is OutcomeKind.FAILED
    assert ended.reason == "the program left with exit code out of memory"


@pytest.mark.parametrize(
    "line",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has",
        "torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 MiB",
        "RuntimeError: MPS backend out of memory (MPS allocated: 8.00 GB, other allocations: 1 GB)",
        "RuntimeError: CUDA error: out of memory",
        "[rank0]: RuntimeError: CUDA out of memory",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to",
        "RuntimeError: [enforce fail] DefaultCPUAllocator: not enough memory: you tried to",
        "MemoryError",
        "MemoryError: no room",
        "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array",
        "OSError: [Errno 12] Cannot allocate memory",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to",
        "ResourceExhaustedError: OOM when allocating tensor with shape[1,2]",
        "failed to allocate 16.00G (17179869184 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY",
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space',
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,000 bytes",
        "cudaMalloc failed: out of memory",
        "ERROR: OutOfMemoryError()",
        "memory allocation of 8000000000 bytes failed",
        "Error: cannot allocate vector of size 2.0 Gb",
        "fatal error: runtime: out of memory",
        "RuntimeError: the device ran out of memory at a batch size of 512",
        "Out of memory",
    ],
)
def test_what_allocators_say(line: str) -> None:
    assert outcomes.speaks_of_memory(f"epoch 3\n  {line}\nsomething after it")


@pytest.mark.parametrize(
    "line",
    [
        "note: out of memory is possible",
        "if you run out of memory, lower the batch size",
        "CUDA out of memory is handled by skipping a batch",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB: no failure",
        "catching MemoryError from now on",
        "memory: 12 GB, not enough memory for caching",
        "unable to allocate more workers",
        "failed to allocate a port",
        "no memory of this run",
    ],
)
def test_what_only_speaks_of_memory(line: str) -> None:
    assert not outcomes.speaks_of_memory(f"epoch 3\n{line}\nValueError: wrong")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "model.bin"),
        OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
        RuntimeError("PytorchStreamWriter failed writing file data/1: file write failed"),
    ],
)
def test_a_full_disk_is_the_machine_s_fault_and_not_the_program_s(error: Exception) -> None:
    ended = outcomes.of_exception(error)
    assert ended.kind is OutcomeKind.CRASHED
    assert ended.reason == f"the disk is full: {type(error).__name__}: {error}"
    assert outcomes.of_exception(OSError(errno.EACCES, "no")).kind is OutcomeKind.FAILED


def test_the_place_is_the_last_of_the_user_s_own() -> None:
    def own() -> None:
        Path("nowhere at all").read_text()

    with pytest.raises(FileNotFoundError) as raised:
        own()
    line = raised.traceback[1].lineno + 1
    assert outcomes.place(raised.value) == f" (test_outcomes.py:{line})"


def test_a_failing_disk_is_the_machines_fault() -> None:
    ended = outcomes.of_exception(OSError(errno.EIO, "Input/output error"))
    assert ended.kind is OutcomeKind.CRASHED
    assert ended.reason == "the disk failed: OSError: [Errno 5] Input/output error"
