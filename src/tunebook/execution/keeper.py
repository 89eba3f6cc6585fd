"""The keeper of an attempt: the process that stays beside the worker and has the last word.

It holds the attempt's lock for as long as anything of the attempt lives, gathers the worker's
orphans, watches memory and stop requests, ends what is left over, and writes how the worker ended
if the worker could not. It needs no coordinator, so an attempt outlives the program that began it.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from tunebook.core.trials import Outcome
from tunebook.execution import beginning, checkpoints, family, memory, outcomes, records, worker
from tunebook.execution.bounded_log import SharedLog
from tunebook.execution.spec import ON_TERMINATION, Spec, StopRequest
from tunebook.files import spool

POLL_SECONDS = 0.1
_MEMORY_POLL_SECONDS = 0.25
# After a fault Python lists every extension module, which can be long.
_SEARCHED_BYTES = 1 << 16
_WATCHED_SIGNALS = (signal.SIGCHLD, signal.SIGTERM)


def keep(spec: Spec, work: Callable[[], None]) -> None:
    """Run `work` in a worker process and see it through. Does nothing if that was done before."""
    lock = beginning.take(spec)
    if lock is None:
        return
    with lock:
        began = time.monotonic()
        family.adopt_orphans()
        kills = memory.oom_kills()
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED_SIGNALS)
        keeper = os.getpid()
        pid = family.fork(lambda: _become_worker(keeper, spec, work))
        log = SharedLog(spec.output)
        watch = _Watch(spec, log)
        status = watch.until_end_of(pid)
        family.kill_descendants()
        log.close()
        checkpoints.remove_leftovers(spec.folder)
        if not has_finished(spec):
            outcome = watch.outcome
            if outcome is None:
                killed = status == -signal.SIGKILL and memory.oom_kills() > kills
                outcome = outcomes.of_exit(status, oom_killed=killed, detail=_last_output(spec))
            beginning.write(spec, records.finished(outcome, time.monotonic() - began))


def has_finished(spec: Spec) -> bool:
    return any(records.is_finished(record) for record, _ in spool.read(spec.spool))


class _Watch:
    """Waits for a worker, and ends it when it must end."""

    def __init__(self, spec: Spec, log: SharedLog) -> None:
        self.outcome: Outcome | None = None
        self._spec = spec
        self._log = log
        self._request: StopRequest | None = None
        self._deadline = math.inf
        self._next_look_at_memory = -math.inf

    def until_end_of(self, pid: int) -> int:
        """The worker's exit status; `outcome` is set if it was the watch that ended it."""
        while True:
            got = signal.sigtimedwait(_WATCHED_SIGNALS, POLL_SECONDS)
            ended = family.reap()
            if pid in ended:
                return ended[pid]
            if got is not None and got.si_signo == signal.SIGTERM:
                ON_TERMINATION.write_if_first(self._spec.folder)
            self._log.look()
            if self.outcome is None:
                self.outcome = self._overdue() or self._out_of_memory()
                if self.outcome is not None:
                    _kill(pid)

    def _overdue(self) -> Outcome | None:
        """Whether a stop request has not been obeyed in time; a more urgent one may follow."""
        request = StopRequest.read(self._spec.folder)
        known = self._request
        if request is not None and (known is None or request.grace < known.grace):
            self._request = request
            self._deadline = time.monotonic() + request.grace
        if self._request is None or time.monotonic() < self._deadline:
            return None
        return outcomes.of_request(self._request)

    def _out_of_memory(self) -> Outcome | None:
        """Whether the processes together use more than the slot has."""
        limit = self._spec.slot.memory
        if limit is None or time.monotonic() < self._next_look_at_memory:
            return None
        self._next_look_at_memory = time.monotonic() + _MEMORY_POLL_SECONDS
        used = sum(memory.private_bytes(process.pid) for process in family.descendants())
        if used <= limit:
            return None
        return outcomes.out_of_memory(
            f"its processes used {used >> 20} MB, the limit is {limit >> 20} MB"
        )


def _become_worker(keeper: int, spec: Spec, work: Callable[[], None]) -> None:
    os.setsid()
    family.die_with(keeper)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED_SIGNALS)
    _redirect_output(spec)
    worker.prepare(spec)
    work()


def _redirect_output(spec: Spec) -> None:
    output = os.open(spec.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(output)
    os.close(nothing)
    # Lines are there to be read while the trial runs, and after it has crashed.
    with suppress(AttributeError):
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _last_output(spec: Spec) -> str:
    """The end of what the program printed; where Python itself broke, from that point on."""
    with suppress(FileNotFoundError), spec.output.open("rb") as file:
        file.seek(max(spec.output.stat().st_size - _SEARCHED_BYTES, 0))
        text = file.read().decode(errors="replace")
        broke = text.rfind("Fatal Python error")
        start = broke if broke >= 0 else max(len(text) - outcomes.LONGEST_DETAIL, 0)
        return text[start : start + outcomes.LONGEST_DETAIL]
    return ""


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
