"""The run of an attempt: what a training function logs goes into the attempt's own spool.

`log` puts a row on a queue and returns; a thread writes the queue out twice a second. So the
training loop never waits for a disk, and a crash loses half a second of its curve at most.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from tunebook.core.domains import Value
from tunebook.core.errors import UnknownName, did_you_mean
from tunebook.core.space import Config
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt, Cause, Outcome, OutcomeKind
from tunebook.execution import checkpoints, records
from tunebook.execution.spec import Spec, StopRequest
from tunebook.files import atomic
from tunebook.files.spool import SpoolWriter

FLUSH_SECONDS = 0.5
_LOOK_SECONDS = 0.05


class TrialEnded(BaseException):
    """Leaves the training function: the trial has ended. No `Exception`: programs catch those."""


class SpoolRun:
    """A `Run` that writes into the spool of its attempt."""

    def __init__(self, spec: Spec, asked: Callable[[], StopRequest | None] | None = None) -> None:
        self._spec = spec
        self._params = MappingProxyType(dict(spec.attempt.trial.config))
        self._began = time.monotonic()
        self._owner = os.getpid()
        self._spool = SpoolWriter(spec.spool)
        self._rows: deque[records.Row] = deque()
        self._last: dict[str, int] = {}
        self._step = -1
        self._repeated = False
        self._watched = _watched(spec)
        self._parts: dict[str, float] = {}
        self._asked = asked or (lambda: StopRequest.read(spec.folder))
        self._looked = -math.inf
        self._request: StopRequest | None = None
        self._obeyed = False
        self._outcome: Outcome | None = None
        self._writing = threading.Lock()
        self._closing = threading.Event()
        self._writer = threading.Thread(target=self._write_out, name="tunebook", daemon=True)
        self._writer.start()

    @property
    def params(self) -> Config:
        return self._params

    @property
    def seed(self) -> int:
        return self._spec.attempt.trial.seed

    @property
    def budget(self) -> Budget | None:
        return self._spec.terms.budget

    @property
    def attempt(self) -> Attempt:
        return self._spec.attempt

    @property
    def outcome(self) -> Outcome | None:
        """How the attempt ended, if it has."""
        return self._outcome

    @property
    def objective(self) -> str | None:
        """The name of the objective's metric, if there is one."""
        metric = self._spec.terms.metric
        return metric.name if metric else None

    @property
    def logged(self) -> tuple[str, ...]:
        """The metrics logged so far."""
        return tuple(self._last)

    @property
    def last_step(self) -> int:
        return self._step

    def __getitem__(self, name: str) -> Value:
        try:
            return self._params[name]
        except KeyError:
            near = did_you_mean(name, self._params)
            raise UnknownName(f"this trial has no parameter {name!r}{near}") from None

    def log(self, metrics: Mapping[str, object], step: int | None = None) -> None:
        if self._outcome is not None:
            raise TrialEnded
        if step is None:
            step = self._step + 1
        elif step.__class__ is not int or step < 0:
            step = _whole(step)
        names, values = [], []
        last, watched, bad = self._last, self._watched, None
        for name, value in metrics.items():
            if value.__class__ is not float:
                value = _number(name, value)
            before = last.get(name, -1)
            if step <= before:
                self._refuse_step(name, step, before)
                continue
            if name in watched and not -math.inf < value <= watched[name]:
                bad = name
            last[name] = step
            names.append(name)
            values.append(value)
        self._step = max(step, self._step)
        # A forked child, such as a data loader's, inherits the queue but must not write it.
        if names and os.getpid() == self._owner:
            row = (step, time.monotonic() - self._began, tuple(names), tuple(values))
            self._rows.append(row)
        if bad is not None:
            self._diverged(bad, float(metrics[bad]), step)  # type: ignore[arg-type]

    @contextmanager
    def checkpoint(self, step: int) -> Iterator[Path]:
        step = _whole(step)
        with checkpoints.save(self._spec.folder, step) as folder:
            yield folder

    def resume(self) -> Path | None:
        for found in checkpoints.newest(self._spec.folder.parent):
            reason = atomic.flaw(found.folder)
            if reason is None:
                self._append(records.resumed(found.attempt, found.step))
                self._step = found.step
                return found.folder
            self.note(f"skipped the checkpoint of step {found.step}: {reason}")
        return None

    @property
    def should_stop(self) -> bool:
        if self._request is None and time.monotonic() - self._looked > _LOOK_SECONDS:
            self._request = self._asked()
            self._looked = time.monotonic()
        if self._request is not None:
            self._obeyed = True
            return True
        budget = self.budget
        spent = time.monotonic() - self._began
        return budget is not None and budget.unit == "seconds" and spent >= budget.amount

    def infeasible(self, reason: str) -> NoReturn:
        self.end(Outcome(OutcomeKind.INFEASIBLE, str(reason), Cause.REPORTED))
        raise TrialEnded

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            spent = time.monotonic() - began
            self._parts[part] = self._parts.get(part, 0.0) + spent

    def note(self, text: str) -> None:
        """Something the user should know, while the trial goes on."""
        self._append(records.noted(text))

    @property
    def obeyed(self) -> StopRequest | None:
        """The stop request that the program has seen, if any."""
        return self._request if self._obeyed else None

    def end(self, outcome: Outcome) -> None:
        """Write the outcome and return when it is on the disk. The first one counts."""
        if self._outcome is not None or os.getpid() != self._owner:
            return
        self._outcome = outcome
        self._closing.set()
        self._writer.join()
        self._flush()
        self._append(records.finished(outcome, time.monotonic() - self._began))
        self._spool.sync()
        self._spool.close()

    def _append(self, record: bytes) -> None:
        if os.getpid() == self._owner:
            with self._writing:
                self._spool.append(record)

    def _write_out(self) -> None:
        while not self._closing.wait(FLUSH_SECONDS):
            # A full disk must not end the training: the rows wait, and the next round tries again.
            with contextlib.suppress(OSError):
                self._flush()

    def _flush(self) -> None:
        self._log_timings()
        rows = [self._rows.popleft() for _ in range(len(self._rows))]
        if not rows:
            return
        try:
            self._append(records.points(records.blocks_of(rows)))
        except OSError:
            self._rows.extendleft(reversed(rows))
            raise

    def _log_timings(self) -> None:
        """Seconds spent on each part so far, as metrics `time/<part>`."""
        spent = {f"time/{part}": seconds for part, seconds in list(self._parts.items())}
        fresh = {
            name: value for name, value in spent.items() if self._last.get(name, -1) < self._step
        }
        if fresh:
            self.log(fresh, self._step)

    def _refuse_step(self, name: str, step: int, before: int) -> None:
        if step < before:
            raise ValueError(
                f"{name!r} was logged at step {step} after step {before}; steps must not go back"
            )
        if not self._repeated:
            self._repeated = True
            self.note(f"{name!r} was logged twice at step {step}; the first value counts")

    def _diverged(self, name: str, value: float, step: int) -> NoReturn:
        limit = self._watched[name]
        what = f"rose above {limit:g}" if limit < value < math.inf else f"became {value:g}"
        self.end(Outcome(OutcomeKind.INFEASIBLE, f"{name} {what} at step {step}", Cause.DIVERGED))
        raise TrialEnded


def _watched(spec: Spec) -> dict[str, float]:
    """The metrics in which a value that is not finite, or above the limit, means divergence."""
    divergence = spec.terms.divergence
    limit = sys.float_info.max if divergence.above is None else divergence.above
    # The threshold belongs to the metrics named for it; an accuracy has no upper limit.
    metric = spec.terms.metric
    own = {metric.name: sys.float_info.max} if metric else {}
    return own | dict.fromkeys(divergence.metrics, limit)


def _number(name: object, value: object) -> float:
    """A metric's value as a float; tensors and arrays of one element count as numbers."""
    if not isinstance(name, str):
        raise TypeError(f"a metric's name must be text, got {name!r}")
    if not isinstance(value, str | bytes | complex | None):
        with contextlib.suppress(TypeError, ValueError, RuntimeError, OverflowError):
            return float(value)  # type: ignore[arg-type]
    raise TypeError(
        f"the metric {name!r} must be a number, got {value!r:.60} ({type(value).__name__})"
    )


def _whole(step: object) -> int:
    try:
        number = int(step)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        number = -1
    if isinstance(step, str) or number != step or number < 0:
        raise ValueError(f"a step must be a whole number from 0 on, got {step!r}")
    return int(number)
