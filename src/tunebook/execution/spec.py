"""What the processes of an attempt must know, as a file in the attempt's folder.

attempt.json   this description
spool          what the attempt tells
log.txt        what the program prints
params.json    the parameters of a command's trial, for commands that read them from a file
metrics.jsonl  what a command tells by `tunebook.log`
run/           the folder of a command's trial, `{run_dir}`
lock           held by the attempt's keeper while it lives
stop           a request to save and leave
fenced         written, under the lock, once the attempt has been given up
checkpoints/   folders by step
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from tunebook.core import codec
from tunebook.core.objective import Metric
from tunebook.core.study import Budget, Divergence, Study
from tunebook.core.trials import Attempt
from tunebook.execution.slots import Slot
from tunebook.files import atomic

_FILE = "attempt.json"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a study asks of each of its trials; a run of no study has no metric to watch.

    Trials of a procedure also log how much memory they have, `measured`: it may look for a leak.
    """

    metric: Metric | None
    divergence: Divergence
    budget: Budget | None
    measured: bool = False

    @staticmethod
    def of(study: Study) -> Terms:
        measured = study.asked is not None
        return Terms(study.objective.metric, study.divergence, study.budget, measured)


@dataclass(frozen=True, slots=True)
class Spec:
    """An attempt, the terms of its study, and the slot it runs in."""

    attempt: Attempt
    terms: Terms
    slot: Slot = field(default_factory=Slot)

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
    def files(self) -> Path:
        """What a trial keeps for all of its attempts; made when first asked for."""
        place = self.folder.parent / "files"
        place.mkdir(mode=0o700, exist_ok=True)
        return place

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def fence(self) -> Path:
        return self.folder / "fenced"

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        terms = self.terms
        parts = (self.attempt, terms.metric, terms.divergence, terms.budget)
        document = [*map(codec.dumps, parts), terms.measured, asdict(self.slot)]
        atomic.write_file(self.folder / _FILE, json.dumps(document).encode(), durable=False)

    @staticmethod
    def read(folder: Path) -> Spec:
        *parts, measured, slot = json.loads((folder / _FILE).read_bytes())
        attempt, metric, divergence, budget = map(codec.loads, parts)
        where = Slot(**{**slot, "gpus": tuple(slot["gpus"])})
        return Spec(attempt, Terms(metric, divergence, budget, measured), where)


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Asks an attempt to save and leave; after `grace` seconds its processes are ended."""

    kind: Literal["stop", "preempt", "cancel", "stall"]
    reason: str
    grace: float

    def write(self, folder: Path) -> None:
        content = json.dumps(asdict(self)).encode()
        atomic.write_file(folder / "stop", content, durable=False)

    def write_if_first(self, folder: Path) -> None:
        """Ask, unless somebody has asked before, who may be more urgent.

        For signal handlers: a disk that refuses must not raise in the middle of anything.
        """
        with suppress(OSError):
            if StopRequest.read(folder) is None:
                self.write(folder)

    @staticmethod
    def read(folder: Path) -> StopRequest | None:
        try:
            return StopRequest(**json.loads((folder / "stop").read_bytes()))
        except FileNotFoundError:
            return None


# Batch systems send SIGTERM to every process and wait about half a minute.
ON_TERMINATION = StopRequest("preempt", "the system asked it to leave", grace=10.0)
