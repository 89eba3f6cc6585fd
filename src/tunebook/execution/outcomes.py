"""How an attempt ended, told from what is left of it: an exception, a value, an exit status."""

from __future__ import annotations

import errno
import math
import re
import signal
import sysconfig
import traceback
from collections.abc import Mapping
from pathlib import Path

from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution import family, readings
from tunebook.execution.run import LONGEST_REASON, SpoolRun
from tunebook.execution.spec import ON_TERMINATION, StopRequest
from tunebook.files import space

LONGEST_DETAIL = 8_000
_STOPPED = {
    "stop": OutcomeKind.STOPPED,
    "preempt": OutcomeKind.PREEMPTED,
    "cancel": OutcomeKind.CANCELLED,
    "stall": OutcomeKind.CRASHED,
}
# What the allocators of torch, CUDA, numpy, jax and C++ say, in their own words: a program that
# only speaks of memory before it fails has another fault, which must be seen.
_OUT_OF_MEMORY = re.compile(
    r"""
    memoryerror (?: [:()] | \s*$ )
    | (?: cuda | hip | xpu | gpu | backend | heap ) \  out\ of\ memory (?: [.:;,!(] | \ \( | \s*$ )
    | (?: error | failed | failure | exception | runtime ) : \s* out\ of\ memory
    | ^ \s* out\ of\ memory \s* (?: [.:!] | $ )
    | ran\ out\ of\ memory (?! \ trying )
    | out\ of\ memory\ (?: allocating | while\ trying\ to\ allocate )
    | oom\ when\ allocating
    | can(?:not|'t)\ allocate\ (?: memory | vector )
    | unable\ to\ allocate\ (?: memory | array | \d )
    | failed\ to\ allocate\ (?: memory | request | \d )
    | memory\ allocation\ of\ \d+\ bytes\ failed
    | not\ enough\ memory :
    | \b bad_alloc \b
    | resource_?exhausted
    # CUBLAS_, CUDNN_, CUSOLVER_; CUDA_ERROR_, and the runtime's name of the same.
    | _status_alloc_failed
    | error_out_of_memory
    | cudaerrormemoryallocation
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# Frames of an exception that are not the user's: ours, Python's, and those of installed packages.
_LIBRARIES = (
    str(Path(__file__).parent),
    "<frozen ",
    *{sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")},
)
_CRASH_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "a segmentation fault",
    signal.SIGBUS: "a bus error",
    signal.SIGABRT: "an abort",
    signal.SIGILL: "an illegal instruction",
    signal.SIGFPE: "an arithmetic fault",
}


def out_of_memory(reason: str, detail: str = "") -> Outcome:
    return Outcome(OutcomeKind.INFEASIBLE, reason, Cause.OUT_OF_MEMORY, detail)


def no_room(reason: str, detail: str = "") -> Outcome:
    return Outcome(OutcomeKind.CRASHED, f"the disk is full: {reason}", detail=detail)


def of_exception(error: BaseException) -> Outcome:
    """A program's exception: out of memory is the configuration's fault, a full or failing disk
    the machine's. Every other one is its own.
    """
    detail = "".join(traceback.format_exception(error))[-LONGEST_DETAIL:]
    text = in_words(error)
    if isinstance(error, MemoryError) or (isinstance(error, Exception) and speaks_of_memory(text)):
        return out_of_memory(f"out of memory: {text}"[:LONGEST_REASON], detail)
    if isinstance(error, Exception) and space.speaks_of_it(text):
        return no_room(f"{text[:LONGEST_REASON]}{place(error)}", detail)
    if isinstance(error, OSError) and error.errno == errno.EIO:
        reason = f"the disk failed: {text[:LONGEST_REASON]}{place(error)}"
        return Outcome(OutcomeKind.CRASHED, reason, detail=detail)
    if isinstance(error, KeyboardInterrupt):
        return Outcome(OutcomeKind.PREEMPTED, "interrupted")
    if isinstance(error, SystemExit):
        text = f"the program left with exit code {error.code}"
    return Outcome(OutcomeKind.FAILED, f"{text[:LONGEST_REASON]}{place(error)}", detail=detail)


def of_return(run: SpoolRun, returned: object) -> Outcome:
    """A training function has returned: complete, unless it obeyed a request or logged nothing."""
    request = run.obeyed
    if request is not None and not run.has_spent_its_budget:
        at = f" at step {run.last_step}" if run.last_step >= 0 else ""
        return Outcome(_STOPPED[request.kind], f"{request.reason}{at}")
    metric = run.objective
    if metric is not None and metric not in run.logged:
        return Outcome(OutcomeKind.FAILED, _missing(metric, run.logged, returned))
    return Outcome(OutcomeKind.COMPLETE, "finished")


def log_returned(run: SpoolRun, returned: object) -> None:
    """A number that a function returns, or numbers by name, count as logged at its last step.

    What was logged before stands, unless the program itself now says that it came to nothing.
    """
    objective = run.objective
    if isinstance(returned, Mapping):
        given = {name: value for name, value in returned.items() if isinstance(name, str)}
    elif objective is None or isinstance(returned, bool):
        return
    else:
        given = {objective: returned}
    numbers = {name: readings.number(value) for name, value in given.items()}
    fresh = {n: v for n, v in numbers.items() if v is not None and n not in run.logged}
    if fresh:
        run.log(fresh, max(run.last_step, 0))
    final = numbers.get(objective) if objective is not None else None
    if objective is not None and final is not None and not math.isfinite(final):
        run.log({objective: final}, run.last_step + 1)


def of_exit(status: int, *, oom_killed: bool = False, detail: str = "") -> Outcome:
    """A process that ended without a word, by its wait status (negative: a signal)."""
    if oom_killed:
        return out_of_memory("the system killed the process: out of memory", detail)
    if status == family.COULD_NOT_WRITE:
        reason = "the process could not write down its outcome"
        return Outcome(OutcomeKind.CRASHED, reason, detail=detail)
    if status >= 0:
        reason = f"the process left with exit code {status} before the trial had ended"
        return Outcome(OutcomeKind.FAILED, reason, detail=detail)
    if -status == signal.SIGTERM:
        return Outcome(OutcomeKind.PREEMPTED, ON_TERMINATION.reason, detail=detail)
    what = _CRASH_SIGNALS.get(-status)
    reason = f"died of {what}" if what else f"was killed by {_signal_name(-status)}"
    return Outcome(OutcomeKind.CRASHED, f"the process {reason}", detail=detail)


def behind_a_shell(status: int) -> int:
    """The signal that ended a program, where a shell tells so: by 128 and the signal's number.

    As for a program that was started without a shell, the result is negative. Only the signals of a
    crash count: a program may well leave with 129 by itself.

    >>> behind_a_shell(137), behind_a_shell(129)
    (-9, 129)
    """
    fatal = (*_CRASH_SIGNALS, signal.SIGKILL, signal.SIGTERM)
    return 128 - status if status - 128 in fatal else status


def of_request(request: StopRequest) -> Outcome:
    """An attempt whose processes were ended because it did not leave in time."""
    # One that hangs is not asked: it could not leave by itself.
    waited = "" if request.kind == "stall" else f" after {request.grace:g} s"
    return Outcome(_STOPPED[request.kind], f"{request.reason}; ended{waited}")


def vanished(reason: str) -> Outcome:
    """Keeper and worker are both gone, and neither could say why."""
    return Outcome(OutcomeKind.CRASHED, reason)


def in_words(error: BaseException) -> str:
    """An exception's kind and what it says."""
    try:
        said = str(error)
    except Exception:
        # An exception of the user's own may not be able to say what it is about.
        said = ""
    return f"{type(error).__name__}: {said}".strip().rstrip(":")


def place(error: BaseException) -> str:
    """Where in the user's own code an exception came from: " (train.py:12)", or nothing."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""


def speaks_of_memory(text: str) -> bool:
    """Whether a message says that there was no memory left.

    >>> speaks_of_memory("CUDA error: out of memory"), speaks_of_memory("may run out of memory")
    (True, False)
    """
    return _OUT_OF_MEMORY.search(text) is not None


def _missing(metric: str, logged: tuple[str, ...], returned: object) -> str:
    if logged:
        heard = f"it logged {', '.join(sorted(logged)[:10])}"
    elif returned is None:
        heard = "it logged nothing and returned nothing"
    else:
        heard = f"it logged nothing and returned {readings.shown(returned)}"
    return f"the objective's metric {metric!r} was never logged; {heard}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
