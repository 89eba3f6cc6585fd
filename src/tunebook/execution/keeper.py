"""The keeper of an attempt: the process that stays beside the worker and has the last word.

It holds the attempt's lock for as long as anything of the attempt lives, gathers the worker's
orphans, watches memory and stop requests, ends what is left over, and writes how the worker ended
if the worker could not. It needs no coordinator, so an attempt outlives the program that began it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress

from tunebook.core.trials import Outcome
from tunebook.execution import family, memory, outcomes, records, worker
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest
from tunebook.files import locks, spool

POLL_SECONDS = 0.1
_MEMORY_POLL_SECONDS = 0.25
_ON_TERMINATION = StopRequest("preempt", "the system asked it to leave", grace=10.0)
_WATCHED_SIGNALS = (signal.SIGCHLD, signal.SIGTERM)


def keep(spec: Spec, slot: Slot, work: Callable[[], None]) -> None:
    """Run `work` in a worker process and see it through. Does nothing if that was done before."""
    lock = locks.acquire(spec.lock)
    if lock is None:
        return
    with lock:
        if spec.fence.exists() or has_begun(spec):
            return
        began = time.monotonic()
        family.adopt_orphans()
        _write(spec, records.started(socket.gethostname(), os.getpid()))
        kills = memory.oom_kills()
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED_SIGNALS)
        pid = _fork_worker(spec, slot, work)
        status, outcome = _watch(pid, spec, slot)
        family.kill_descendants()
        if not has_finished(spec):
            if outcome is None:
                oom = status == -signal.SIGKILL and memory.oom_kills() > kills
                outcome = outcomes.of_exit(status, oom)
            _write(spec, records.finished(outcome, time.monotonic() - began))


def has_begun(spec: Spec) -> bool:
    """Whether a keeper has ever taken up the attempt."""
    return spec.spool.exists() and spec.spool.stat().st_size > 0


def has_finished(spec: Spec) -> bool:
    return any(records.is_finished(record) for record, _ in spool.read(spec.spool))


def _fork_worker(spec: Spec, slot: Slot, work: Callable[[], None]) -> int:
    keeper = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        family.die_with(keeper)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED_SIGNALS)
        _redirect_output(spec)
        worker.prepare(spec, slot)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Leave without the parent's exit handlers; whatever is left is the keeper's to end.
        os._exit(code)


def _watch(pid: int, spec: Spec, slot: Slot) -> tuple[int, Outcome | None]:
    """Wait for the worker: its exit code, and the outcome if it was the keeper that ended it."""
    request, deadline, outcome = None, float("inf"), None
    look_at_memory = 0.0
    while True:
        got = signal.sigtimedwait(_WATCHED_SIGNALS, POLL_SECONDS)
        ended = family.reap()
        if pid in ended:
            return ended[pid], outcome
        now = time.monotonic()
        if request is None:
            request = StopRequest.read(spec.folder)
            if request is None and got is not None and got.si_signo == signal.SIGTERM:
                request = _ON_TERMINATION
                request.write(spec.folder)
            if request is not None:
                deadline = now + request.grace
        elif request.grace > 0:
            # A second, more urgent request may follow the first.
            urgent = StopRequest.read(spec.folder)
            if urgent is not None and urgent.grace < request.grace:
                request, deadline = urgent, now + urgent.grace
        if request is not None and now >= deadline and outcome is None:
            outcome = outcomes.of_request(request)
            _kill(pid)
        if slot.memory is not None and now >= look_at_memory and outcome is None:
            look_at_memory = now + _MEMORY_POLL_SECONDS
            used = sum(memory.private_bytes(process.pid) for process in family.descendants())
            if used > slot.memory:
                outcome = outcomes.out_of_memory(
                    f"its processes used {used >> 20} MB, the limit is {slot.memory >> 20} MB"
                )
                _kill(pid)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _redirect_output(spec: Spec) -> None:
    output = os.open(spec.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(output)
    os.close(nothing)


def _write(spec: Spec, record: bytes) -> None:
    writer = spool.SpoolWriter(spec.spool)
    writer.append(record)
    writer.sync()
    writer.close()
