"""The run of a command's trial as the script itself sees it: `tunebook.init()`, `tunebook.log()`.

The script is a child of the worker, which alone writes the spool. What the script tells goes line
by line into a file that the worker reads: {"step": 3, "loss": 0.5} is a row of metrics, and an
object with the key "tunebook" is something that happened. Any program may write such rows.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from tunebook.core.domains import Value
from tunebook.core.space import Config
from tunebook.core.study import Budget
from tunebook.core.trials import Attempt, Outcome
from tunebook.execution import checkpoints, readings
from tunebook.execution.run import TrialEnded
from tunebook.execution.spec import Spec, StopRequest

# Environment variables by which a script finds its trial.
ATTEMPT, METRICS = "TUNEBOOK_ATTEMPT", "TUNEBOOK_METRICS"
# The key of a line that is no row of metrics.
FACT = "tunebook"
# A worker answers within a moment, unless it is about to end.
PATIENCE_SECONDS = 10.0
_LOOK_SECONDS = 0.01


def of_environment() -> JoinedRun | None:
    """The trial that this process belongs to, if a command's trial started it."""
    attempt, metrics = os.environ.get(ATTEMPT), os.environ.get(METRICS)
    if not attempt or not metrics:
        return None
    return _join(attempt, metrics, os.environ.get("RANK", "0") == "0")


@functools.cache
def _join(attempt: str, metrics: str, speaks: bool) -> JoinedRun:
    return JoinedRun(Spec.read(Path(attempt)), Path(metrics), speaks=speaks)


class JoinedRun:
    """A `Run` that tells the worker what happens; one that does not speak keeps it to itself.

    Of several processes started by `torchrun`, the first speaks.
    """

    # How it ends is for the worker to see.
    outcome: Outcome | None = None

    def __init__(self, spec: Spec, file: Path, *, speaks: bool = True) -> None:
        self._spec = spec
        self._file = file
        self._speaks = speaks
        self._params = MappingProxyType(dict(spec.attempt.trial.config))
        self._owner = os.getpid()
        self._began = time.monotonic()
        self._inherited = 0.0
        self._step = -1
        self._logged: dict[str, None] = {}
        self._parts: dict[str, float] = {}

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
    def folder(self) -> Path:
        return self._spec.files

    @property
    def should_stop(self) -> bool:
        if StopRequest.read(self._spec.folder) is not None:
            return True
        budget = self.budget
        spent = self._inherited + time.monotonic() - self._began
        return budget is not None and budget.unit == "seconds" and spent >= budget.amount

    def __getitem__(self, name: str) -> Value:
        return readings.parameter(self._params, name)

    def log(self, metrics: Mapping[str, object], step: int | None = None) -> None:
        step = self._step + 1 if step is None else readings.whole_step(step)
        row: dict[str, Any] = {}
        for name, value in metrics.items():
            readings.check_name(name)
            row[name] = readings.metric_value(name, value)
        self._step = max(step, self._step)
        self._logged |= dict.fromkeys(row)
        row |= {f"time/{part}": seconds for part, seconds in self._parts.items()}
        # The worker reads it later, with others: when it was told is for the script to say.
        self._tell({FACT: "log", "step": step, "metrics": row, "at": time.time()})

    @contextmanager
    def checkpoint(self, step: int) -> Iterator[Path]:
        step = readings.whole_step(step)
        if not self._is_heard:
            with tempfile.TemporaryDirectory(prefix="tunebook-") as folder:
                yield Path(folder)
            return
        seconds = self._inherited + time.monotonic() - self._began
        try:
            with checkpoints.save(self._spec.folder, step, seconds, tuple(self._logged)) as saved:
                yield saved
                # What a trial that resumes here will not log again must be there to stay.
                self._wait_until_heard()
        except Exception as error:
            if not checkpoints.says_disk_is_full(error):
                raise
            text = f"the checkpoint of step {step} was not saved, as the disk is full: {error}"
            self._tell({FACT: "note", "text": text})

    def resume(self) -> Path | None:
        for found in checkpoints.newest(self._spec.folder.parent):
            if found.flaw is None:
                if found.attempt != self.attempt.number:
                    self._inherited = found.seconds
                    self._logged |= dict.fromkeys(found.logged)
                    place = {"attempt": found.attempt, "step": found.step}
                    self._tell({FACT: "resumed", **place, "logged": list(found.logged)})
                self._step = max(found.step, self._step)
                return found.folder
        return None

    def infeasible(self, reason: str) -> NoReturn:
        self._tell({FACT: "infeasible", "reason": str(reason)})
        raise TrialEnded

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self._parts[part] = self._parts.get(part, 0.0) + time.monotonic() - began

    @property
    def _is_heard(self) -> bool:
        # What a forked child, such as a data loader's, says is not heard.
        return self._speaks and os.getpid() == self._owner

    def _wait_until_heard(self) -> None:
        """Return when the worker has put on the disk what it was told; it answers by a file."""
        name = secrets.token_hex(8)
        answer = self._file.with_name(f"heard-{name}")
        self._tell({FACT: "sync", "answer": name})
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not answer.exists() and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        answer.unlink(missing_ok=True)

    def _tell(self, content: Mapping[str, Any]) -> None:
        if not self._is_heard:
            return
        line = json.dumps(content).encode() + b"\n"
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # In one go: other processes of the script may write, too.
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
