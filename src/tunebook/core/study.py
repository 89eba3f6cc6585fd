"""A study: one question, the space in which it is asked, and what may be spent on the answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from tunebook.core.commands import Command, Place
from tunebook.core.domains import Value, check_value
from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.hashing import derive_seed
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Objective
from tunebook.core.representation import study_html
from tunebook.core.space import Point, Setting, Space, When

SamplingMethod: TypeAlias = Literal["halton", "sobol", "random", "grid", "list"]

MOST_TRIALS = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}\Z")


@dataclass(frozen=True, slots=True)
class Budget:
    """What one trial may spend."""

    amount: float
    unit: Literal["steps", "examples", "seconds"] = "steps"

    def __post_init__(self) -> None:
        if not 0 < self.amount < math.inf:
            raise StudyError(f"max_{self.unit} must be above 0 and finite, got {self.amount:g}")

    def __str__(self) -> str:
        return f"{self.amount:g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Resources:
    """What one trial needs. `memory` is in bytes."""

    cpus: int = 1
    gpus: int = 0
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.cpus < 1:
            raise StudyError(f"a trial needs at least one cpu, got {self.cpus}")
        if self.gpus < 0:
            raise StudyError(f"gpus must not be negative, got {self.gpus}")
        if self.memory is not None and self.memory < 2**20:
            raise StudyError(f"memory must be at least 1 MB, got {self.memory} bytes")


@dataclass(frozen=True, slots=True)
class Divergence:
    """When a trial counts as diverged: NaN or infinity in the objective or in these metrics.

    A threshold on them applies only where one is given.
    """

    metrics: tuple[str, ...] = ()
    above: float | None = None

    def __post_init__(self) -> None:
        check_value(self.above)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How configurations are chosen: quasi-random unless said otherwise.

    `points` is the number of grid points for each range; `configs` are the listed configurations.
    """

    method: SamplingMethod = "halton"
    points: int = 5
    configs: tuple[tuple[tuple[str, Value], ...], ...] = ()

    def __post_init__(self) -> None:
        known = get_args(SamplingMethod)
        if self.method not in known:
            raise StudyError(
                f"sampling must be {', '.join(known[:-1])} or {known[-1]}, got {self.method!r}"
                f"{did_you_mean(self.method, known)}"
            )
        if self.method == "list" and not self.configs:
            raise StudyError("sampling by list needs at least one configuration, got none")
        if not 2 <= self.points <= MOST_TRIALS:
            raise StudyError(
                f"the points of a grid for each range must be from 2 to {MOST_TRIALS}, "
                f"got {self.points}"
            )

    def __str__(self) -> str:
        if self.method == "grid":
            return f"grid of {self.points} points for each range"
        if self.method == "list":
            return f"list of {len(self.configs)} configurations"
        return self.method


@dataclass(frozen=True, slots=True)
class MoreTrials:
    """A larger number of trials for some settings: equal trials are not equal tuning."""

    when: tuple[When, ...]
    trials: int


@dataclass(frozen=True)
class Asked:
    """The procedure that a study is a stage of: enough to follow it again from the book.

    `about` is the study that it was asked about, `start` the configuration that it varies and
    `source` where that came from; `selected` is the result for which the start was selected, if it
    was. A procedure that is begun anew is in another `round`.
    """

    procedure: str
    about: Study
    start: tuple[tuple[str, Value], ...] = ()
    source: str = ""
    options: tuple[tuple[str, Value], ...] = ()
    round: int = 1
    selected: float | None = None

    def stage(self, name: str) -> str:
        """What the study of a stage is called in the book."""
        again = f"-{self.round}" if self.round > 1 else ""
        return f"{self.about.name}.{self.procedure}{again}.{name}"


@dataclass(frozen=True)
class Study:
    """One question. A value: it holds no store, and running it does not change it."""

    name: str
    space: Space
    objective: Objective
    goal: str = ""
    program: str | None = None
    task: str | None = None
    command: Command | None = None
    trials: int = 20
    more_trials: tuple[MoreTrials, ...] = ()
    budget: Budget | None = None
    knobs: Knobs = field(default_factory=Knobs)
    resources: Resources = field(default_factory=Resources)
    divergence: Divergence = field(default_factory=Divergence)
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = 0
    parent: str | None = None
    baseline: tuple[tuple[str, Value], ...] = ()
    note: str = ""
    file: str = ""
    asked: Asked | None = None

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise StudyError(
                f"{self.name!r} cannot name a study; "
                "use up to 100 letters, digits, '_', '.' and '-'"
            )
        if sum(what is not None for what in (self.program, self.task, self.command)) > 1:
            raise StudyError("a study has a program, a task or a command, not two of them")
        for number in (self.trials, *(more.trials for more in self.more_trials)):
            if not 1 <= number <= MOST_TRIALS:
                raise StudyError(f"trials must be from 1 to {MOST_TRIALS}, got {number}")
        self.knobs.check(self.space)
        for _, problem in self.command_problems(self.command) if self.command else ():
            raise StudyError(problem)
        for name in (when.parameter for more in self.more_trials for when in more.when):
            if name not in self.space:
                raise StudyError(
                    f"more_trials depends on {name!r}, which is no parameter"
                    f"{did_you_mean(name, self.space.names)}"
                )

    def command_problems(self, command: Command) -> Iterator[tuple[Place, str]]:
        """What would be wrong with a command in this study."""
        inherited = [name for name, _ in self.baseline if name not in self.space]
        budget = f"max_{self.budget.unit}" if self.budget else None
        return command.problems(self.space, inherited, budget)

    @property
    def sequence_seed(self) -> int:
        """The seed of the points. A child study gets points of its own, never its parent's."""
        if self.parent is None:
            return self.seed
        return derive_seed(self.seed, "child", self.parent, self.name)

    def trial_seed(self, index: int) -> int:
        """`run.seed`: the same for paired trials of all settings."""
        return derive_seed(self.sequence_seed, "trial", index)

    def trials_for(self, setting: Setting) -> int:
        """How many trials a setting gets."""
        config = setting.config
        matching = [m.trials for m in self.more_trials if all(w.holds(config) for w in m.when)]
        return max([self.trials, *matching])

    def config(self, setting: Setting, point: Point) -> dict[str, Value]:
        """The configuration at a point, with what it inherits from the baseline."""
        return self.inherit(self.space.decode(setting, point))

    def inherit(self, config: dict[str, Value]) -> dict[str, Value]:
        """A configuration with the baseline's values for what the space does not name."""
        inherited = {name: value for name, value in self.baseline if name not in self.space}
        return dict(sorted({**inherited, **config}.items()))

    def child(self, name: str, **changes: Any) -> Study:
        """A following study: its own name, this one as its parent, and new points."""
        return replace(self, name=name, parent=self.name, **changes)

    def difference(self, other: Study) -> tuple[str, ...]:
        """A line for each change that makes the trials of two studies incomparable.

        The goal, the note, the objective and the number of trials may change at any time: trials
        keep their whole curves.
        """
        lines = list(self.space.difference(other.space))
        for name in ("budget", "sampling", "seed", "parent", "baseline"):
            before, after = getattr(self, name), getattr(other, name)
            if before != after:
                lines.append(f"~ {name}: {_plain(before)} -> {_plain(after)}")
        return tuple(lines)

    def _repr_html_(self) -> str:
        return study_html(self)


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{name}={item}" for name, item in value) or "none"
    return "none" if value is None else str(value)
