"""What the process of an attempt must know, as a file in the attempt's folder.

attempt.json   this description
spool          what the attempt tells
log.txt        what the program prints
lock           held by the attempt's keeper while it lives
stop           a request to save and leave
fenced         written, under the lock, once the attempt has been given up
checkpoints/   folders by step
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tunebook.core import codec
from tunebook.core.objective import Metric
from tunebook.core.study import Budget, Divergence, Study
from tunebook.core.trials import Attempt
from tunebook.files import atomic


@dataclass(frozen=True, slots=True)
class Terms:
    """What a study asks of each of its trials; a run of no study has no metric to watch."""

    metric: Metric | None
    divergence: Divergence
    budget: Budget | None

    @staticmethod
    def of(study: Study) -> Terms:
        return Terms(study.objective.metric, study.divergence, study.budget)


@dataclass(frozen=True, slots=True)
class Spec:
    """An attempt and the terms of its study."""

    attempt: Attempt
    terms: Terms

    @property
    def folder(self) -> Path:
        return Path(self.attempt.folder)

    @property
    def spool(self) -> Path:
        return self.folder / "spool"

    @property
    def output(self) -> Path:
        return self.folder / "log.txt"

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def fence(self) -> Path:
        return self.folder / "fenced"

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        parts = (self.attempt, self.terms.metric, self.terms.divergence, self.terms.budget)
        document = json.dumps([codec.dumps(part) for part in parts])
        atomic.write_file(self.folder / "attempt.json", document.encode(), durable=False)

    @staticmethod
    def read(folder: Path) -> Spec:
        parts = json.loads((folder / "attempt.json").read_bytes())
        attempt, metric, divergence, budget = (codec.loads(part) for part in parts)
        return Spec(attempt, Terms(metric, divergence, budget))


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Asks an attempt to save and leave; after `grace` seconds its processes are ended."""

    kind: Literal["stop", "preempt", "cancel"]
    reason: str
    grace: float

    def write(self, folder: Path) -> None:
        content = json.dumps(asdict(self)).encode()
        atomic.write_file(folder / "stop", content, durable=False)

    @staticmethod
    def read(folder: Path) -> StopRequest | None:
        try:
            return StopRequest(**json.loads((folder / "stop").read_bytes()))
        except FileNotFoundError:
            return None
