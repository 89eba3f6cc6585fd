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
