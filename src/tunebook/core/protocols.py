"""What the parts of tunebook ask of one another. Each implementation passes its contract suite."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol, TypeAlias

from tunebook.core.domains import Value
from tunebook.core.events import Decision, Event, Wait
from tunebook.core.results import Results
from tunebook.core.space import Config, Setting
from tunebook.core.study import Budget, Study
from tunebook.core.trials import Attempt, Code, Origin

TrainFunction: TypeAlias = Callable[["Run"], object]
Decide: TypeAlias = Callable[[Event], Decision]


class Run(Protocol):
    """What a training function is given."""

    @property
    def params(self) -> Config:
        """The configuration of this trial."""

    @property
    def seed(self) -> int:
        """The trial's seed, equal for paired trials of all settings."""

    @property
    def budget(self) -> Budget | None:
        """What the trial may spend."""

    @property
    def folder(self) -> Path:
        """A place for files of the program's own, kept with the trial through all its attempts."""

    @property
    def should_stop(self) -> bool:
        """True once the trial is asked to save and leave, or has spent its budget of seconds."""

    def __getitem__(self, name: str) -> Value:
        """`run["learning_rate"]`: one parameter."""

    def log(self, metrics: Mapping[str, object], step: int | None = None) -> None:
        """Report numbers at a step; cheap, and never waits for a disk."""

    def checkpoint(self, step: int) -> AbstractContextManager[Path]:
        """A folder that exists afterwards as a whole, or not at all."""

    def resume(self) -> Path | None:
        """The newest checkpoint of this trial that is whole, or None."""

    def infeasible(self, reason: str) -> NoReturn:
        """End the trial: its configuration cannot work."""

    def timing(self, part: str) -> AbstractContextManager[None]:
        """Count the time spent on a part of the work, such as waiting for data."""


class Program(Protocol):
    """A training program that can be brought into another process."""

    @property
    def reference(self) -> str:
        """What a person would call it, such as `train.py:train`."""

    def load(self) -> TrainFunction:
        """The function itself, imported in the process that calls this."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A configuration to be tried."""

    setting: Setting
    config: Config
    seed: int
    origin: Origin


class Sampler(Protocol):
    """Results so far -> the next configuration."""

    def count(self, study: Study, setting: Setting) -> int:
        """How many trials the setting gets in all."""

    def propose(
        self, study: Study, setting: Setting, index: int, seen: Callable[[], Results]
    ) -> Proposal:
        """The configuration with this index; only a guided sampler asks for what was `seen`."""


class Executor(Protocol):
    """Runs a program on attempts and tells what happens."""

    def run(
        self, program: Program, proposals: Iterator[Attempt | Wait], decide: Decide
    ) -> Iterator[Event]:
        """Events as they happen, until the proposals end and the last attempt has finished.

        An attempt is taken only when there is room for it. One whose process is already alive is
        adopted, not started again.
        """


class Store(Protocol):
    """Remembers studies and what happened to their attempts."""

    def create(self, study: Study) -> Study:
        """Make the study known; a second call joins it, or raises `StudyChanged`."""

    def claim(self, study: str, proposal: Proposal, code: Code) -> Attempt:
        """A new attempt at the proposed trial, which is made if it is new."""

    def append(self, event: Event) -> bool:
        """Remember an event durably; False if a later attempt or an outcome fences it out."""

    def results(self, study: str, metrics: Collection[str] | None = None) -> Results:
        """The study now, with the curves of these metrics (None: of all)."""

    def studies(self) -> tuple[Study, ...]:
        """Every study, in the order of creation."""
