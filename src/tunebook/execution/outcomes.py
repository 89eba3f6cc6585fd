"""How an attempt ended, told from what is left of it: an exception, a value, an exit status."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Mapping
from pathlib import Path

from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.execution.run import SpoolRun
from tunebook.execution.spec import StopRequest

LONGEST_DETAIL = 8_000
_STOPPED = {
    "stop": OutcomeKind.STOPPED,
    "preempt": OutcomeKind.PREEMPTED,
    "cancel": OutcomeKind.CANCELLED,
}
# What the allocators of torch, CUDA, numpy, jax and C++ say. Each is a part of a longer message.
_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "unable to allocate",
    "failed to allocate",
    "std::bad_alloc",
    "resource_exhausted",
    "cublas_status_alloc_failed",
)
_CRASH_SIGNALS = {
    signal.SIGSEGV: "a segmentation fault",
    signal.SIGBUS: "a bus error",
    signal.SIGABRT: "an abort",
    signal.SIGILL: "an illegal instruction",
    signal.SIGFPE: "an arithmetic fault",
}


def out_of_memory(reason: str, detail: str = "") -> Outcome:
    return Outcome(OutcomeKind.INFEASIBLE, reason, Cause.OUT_OF_MEMORY, detail)


def of_exception(error: BaseException) -> Outcome:
    """A program's exception: out of memory is the configuration's fault, the rest its own."""
    detail = "".join(traceback.format_exception(error))[-LONGEST_DETAIL:]
    text = f"{type(error).__name__}: {error}".strip().rstrip(":")
    if isinstance(error, MemoryError) or _speaks_of_memory(error):
        return out_of_memory(f"out of memory: {text:.200}", detail)
    if isinstance(error, KeyboardInterrupt):
        return Outcome(OutcomeKind.PREEMPTED, "interrupted")
    if isinstance(error, SystemExit):
        text = f"the program left with exit code {error.code}"
    return Outcome(OutcomeKind.FAILED, f"{text:.300}{_place(error)}", detail=detail)


def of_return(run: SpoolRun, returned: object) -> Outcome:
    """A training function has returned: complete, unless it obeyed a request or logged nothing."""
    request = run.obeyed
    if request is not None and not _spent_its_budget(run):
        at = f" at step {run.last_step}" if run.last_step >= 0 else ""
        return Outcome(_STOPPED[request.kind], f"{request.reason}{at}")
    metric = run.objective
    if metric is not None and metric not in run.logged:
        return Outcome(OutcomeKind.FAILED, _missing(metric, run.logged, returned))
    return Outcome(OutcomeKind.COMPLETE, "finished")


def log_returned(run: SpoolRun, returned: object) -> None:
    """A number or a mapping that a function returns counts as logged at its last step."""
    if isinstance(returned, Mapping):
        known = run.logged
        run.log(
            {name: value for name, value in returned.items() if name not in known},
            max(run.last_step, 0),
        )
        return
    try:
        value = float(returned)  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return
    if isinstance(returned, str):
        return
    metric = run.objective
    if metric is None:
        return
    if metric not in run.logged:
        run.log({metric: value}, max(run.last_step, 0))
    elif value != value:
        # The curve looked well, but the program itself says that it came to nothing.
        run.log({metric: value}, run.last_step + 1)


def of_exit(status: int, oom_killed: bool) -> Outcome:
    """A process that ended without a word, by its wait status (negative: a signal)."""
    if oom_killed:
        return out_of_memory("the system killed the process: out of memory")
    if status >= 0:
        return Outcome(
            OutcomeKind.FAILED,
            f"the process left with exit code {status} before the trial had ended",
        )
    number = signal.Signals(-status)
    if number in _CRASH_SIGNALS:
        return Outcome(OutcomeKind.CRASHED, f"the process died of {_CRASH_SIGNALS[number]}")
    return Outcome(OutcomeKind.CRASHED, f"the process was killed by {number.name}")


def of_request(request: StopRequest) -> Outcome:
    """An attempt whose processes were ended because it did not leave in time."""
    return Outcome(_STOPPED[request.kind], f"{request.reason}; ended after {request.grace:g} s")


def vanished() -> Outcome:
    """Keeper and worker are both gone, and neither could say why."""
    return Outcome(OutcomeKind.CRASHED, "its processes died without a word")


def _speaks_of_memory(error: BaseException) -> bool:
    text = f"{type(error).__name__} {error}".lower()
    return isinstance(error, Exception) and any(part in text for part in _OUT_OF_MEMORY)


def _spent_its_budget(run: SpoolRun) -> bool:
    budget = run.budget
    return budget is not None and budget.unit == "steps" and run.last_step + 1 >= budget.amount


def _missing(metric: str, logged: tuple[str, ...], returned: object) -> str:
    if logged:
        heard = f"it logged {', '.join(sorted(logged)[:10])}"
    elif returned is None:
        heard = "it logged nothing and returned nothing"
    else:
        heard = f"it logged nothing and returned {returned!r:.60}"
    return f"the objective's metric {metric!r} was never logged; {heard}"


def _place(error: BaseException) -> str:
    """Where in the user's own code an exception came from."""
    own = Path(__file__).parent
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent != own
    ]
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
