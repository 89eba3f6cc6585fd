"""The run of an attempt: what a training function logs, saves, resumes and is asked."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from tunebook.core.domains import Value
from tunebook.core.space import Config
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt, Cause, Outcome, OutcomeKind
from tunebook.execution import checkpoints, memory, readings, records
from tunebook.execution.journal import Journal
from tunebook.execution.spec import Spec, StopRequest

LONGEST_REASON = 300
MEMORY = "memory/bytes"
# Looking walks the trial's processes: cheap, but not at every step.
MEMORY_SECONDS = 0.2
_LOOK_SECONDS = 0.05


class TrialEnded(BaseException):
    """Leaves the training function: the trial has ended. No `Exception`: programs catch those."""


class SpoolRun:
    """A `Run` that writes into the spool of its attempt."""

    def __init__(self, spec: Spec, asked: Callable[[], StopRequest | None] | None = None) -> None:
        self._spec = spec
        self._params = MappingProxyType(dict(spec.attempt.trial.config))
        self._began = time.monotonic()
        # The checkpoint it continues, and the seconds of training that went into it.
        self._source: checkpoints.Checkpoint | None = None
        self._inherited = 0.0
        self._logged_before: tuple[str, ...] = ()
        self._last: dict[str, int] = {}
        self._step = -1
        self._repeated = False
        self._watched = _watched(spec)
        self._parts: dict[str, float] = {}
        self._timed = -1
        self._next_look = 0.0 if spec.terms.measured else math.inf
        self._asked = asked or (lambda: StopRequest.read(spec.folder))
        self._looked = -math.inf
        self._request: StopRequest | None = None
        self._obeyed = False
        self._outcome: Outcome | None = None
        self._journal = Journal(spec.spool, before_flush=self._add_timings)

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
    def folder(self) -> Path:
        return self._spec.files

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
        """The metrics logged so far; a trial that resumes at its end may have none left to log."""
        return tuple(dict.fromkeys((*self._logged_before, *self._last)))

    @property
    def last_step(self) -> int:
        return self._step

    @property
    def obeyed(self) -> StopRequest | None:
        """The stop request that the program has seen, if any."""
        return self._request if self._obeyed else None

    @property
    def has_spent_its_budget(self) -> bool:
        """Whether it has all its steps or seconds; examples are the program's own to count."""
        match self.budget:
            case Budget(amount, "steps"):
                return self._step + 1 >= amount
            case Budget(amount, "seconds"):
                return self._training_seconds() >= amount
        return False

    def __getitem__(self, name: str) -> Value:
        return readings.parameter(self._params, name)

    def log(
        self, metrics: Mapping[str, object], step: int | None = None, *, ago: float = 0.0
    ) -> None:
        """Log metrics; those of a script that was heard later happened some seconds `ago`."""
        if self._outcome is not None:
            raise TrialEnded
        if step is None:
            step = self._step + 1
        elif step.__class__ is not int or not 0 <= step <= readings.LARGEST_STEP:
            step = readings.whole_step(step)
        names, values, bad = [], [], None
        last, watched = self._last, self._watched
        for name, value in metrics.items():
            before = last.get(name)
            if before is None:
                readings.check_name(name)
            if value.__class__ is not float:
                value = readings.metric_value(name, value)
            if before is not None and step <= before:
                self._refuse_step(name, step, before)
                continue
            if name in watched and not -math.inf < value <= watched[name]:
                bad = name, value
            names.append(name)
            values.append(value)
        # Only now: a call that raises has logged nothing.
        for name in names:
            last[name] = step
        self._step = max(step, self._step)
        # A forked child, such as a data loader's, would fill a queue that nobody writes.
        if names and self._journal.is_own:
            seconds = time.monotonic() - self._began
            self._journal.add((step, seconds - ago, tuple(names), tuple(values)))
            if seconds > self._next_look:
                self._add_memory(step, seconds)
        if bad is not None:
            self._diverged(*bad, step)

    @contextmanager
    def checkpoint(self, step: int) -> Iterator[Path]:
        step = readings.whole_step(step)
        try:
            seconds = self._training_seconds()
            with checkpoints.save(self._spec.folder, step, seconds, self.logged) as folder:
                yield folder
                # What a trial that resumes here will not log again must be there to stay.
                self._journal.sync()
        except Exception as error:
            if not checkpoints.says_disk_is_full(error):
                raise
            # The older checkpoints are whole, and training matters more than a new one.
            self.note(f"the checkpoint of step {step} was not saved, as the disk is full: {error}")

    def resume(self) -> Path | None:
        for found in checkpoints.newest(self._spec.folder.parent):
            reason = found.flaw
            if reason is None:
                # Asked again, it finds the same, or what this attempt itself has saved meanwhile.
                if found != self._source and found.attempt != self.attempt.number:
                    self._journal.write(records.resumed(found.attempt, found.step))
                    self._source = found
                    self._inherited = found.seconds
                    self._logged_before = found.logged
                self._step = max(found.step, self._step)
                return found.folder
            self.note(
                f"skipped the checkpoint of step {found.step} by attempt {found.attempt}: {reason}"
            )
        return None

    def went_on(self, source: int, step: int, logged: tuple[str, ...] = ()) -> None:
        """The program went on by itself from what an earlier attempt had left at a step."""
        self._journal.write(records.resumed(source, step))
        self._logged_before = logged
        self._step = max(step, self._step)

    @property
    def should_stop(self) -> bool:
        if self._request is None and time.monotonic() - self._looked > _LOOK_SECONDS:
            self._request = self._asked()
            self._looked = time.monotonic()
        if self._request is not None:
            self._obeyed = True
            return True
        budget = self.budget
        return budget is not None and budget.unit == "seconds" and self.has_spent_its_budget

    def infeasible(self, reason: str) -> NoReturn:
        text = str(reason)[:LONGEST_REASON]
        self.end(Outcome(OutcomeKind.INFEASIBLE, text, Cause.REPORTED))
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
        """Something the user should know, while the trial goes on, even on a full disk."""
        self._journal.note(text)

    def sync(self) -> None:
        """Return when what was logged so far is on the disk."""
        self._journal.sync()

    def end(self, outcome: Outcome) -> None:
        """Write the outcome and return when it is on the disk. The first one counts."""
        if self._outcome is not None or not self._journal.is_own:
            return
        self._outcome = outcome
        self._journal.close(records.finished(outcome, time.monotonic() - self._began))

    def _add_timings(self) -> None:
        """Seconds spent on each part so far, as metrics `time/<part>`, at most once for a step."""
        step, parts = self._step, dict(self._parts)
        if parts and step > self._timed:
            self._timed = step
            names = tuple(f"time/{part}" for part in parts)
            seconds = time.monotonic() - self._began
            self._journal.add((step, seconds, names, tuple(parts.values())))

    def _add_memory(self, step: int, seconds: float) -> None:
        """What the trial's processes have in memory now, as a metric, at most once for a step."""
        self._next_look = seconds + MEMORY_SECONDS
        if step > self._last.get(MEMORY, -1):
            self._last[MEMORY] = step
            used = float(memory.resident_bytes())
            self._journal.add((step, seconds, (MEMORY,), (used,)))

    def _training_seconds(self) -> float:
        return self._inherited + time.monotonic() - self._began

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
