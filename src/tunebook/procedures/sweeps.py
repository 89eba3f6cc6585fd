"""A sweep of one parameter over orders of magnitude, extended where its best is at the edge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.diagnosis.gathering import gather
from tunebook.procedures.subjects import Subject

# What a value is worth, lower is better and infinity means that it does not work.
Judge: TypeAlias = Callable[[Sequence[Reading]], float]
Side: TypeAlias = Literal["low", "high"]

MOST_EXTENSIONS: Final = 2


@dataclass(frozen=True, slots=True)
class Sweep:
    """What came of each value, in rising order. `scores` are lower for better ones."""

    parameter: str
    readings: Mapping[float, tuple[Reading, ...]]
    scores: Mapping[float, float]

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(self.readings)

    @property
    def working(self) -> tuple[float, ...]:
        return tuple(value for value, score in self.scores.items() if math.isfinite(score))

    @property
    def best(self) -> float | None:
        """The best value, None where none works."""
        return min(self.working, key=self.scores.__getitem__, default=None)

    @property
    def boundary(self) -> Side | None:
        """At which end of what was tried the best value is.

        The last value that works is no boundary: beyond it is an edge of the program's own.
        """
        if self.best is None:
            return None
        if self.best == self.values[0]:
            return "low"
        return "high" if self.best == self.values[-1] else None

    @property
    def broken_above(self) -> float | None:
        """The smallest value above the best from which nothing works."""
        above = [value for value in self.values if self.best is not None and value > self.best]
        found = None
        for value in reversed(above):
            if math.isfinite(self.scores[value]):
                break
            found = value
        return found


def sweep(
    subject: Subject,
    stage: str,
    parameter: str,
    values: Sequence[float],
    *,
    goal: str,
    fix: Config | None = None,
    steps: int | None = None,
    replicates: int = 1,
    judge: Judge | None = None,
    extensions: int = MOST_EXTENSIONS,
) -> Generator[Study, Results, Sweep]:
    """Try values of a parameter; while the best is at an end, go on in its direction.

    For `yield from` in a procedure. Each extension is a study of its own.
    """
    found: dict[float, tuple[Reading, ...]] = {}
    score = judge or mean_loss(subject.study.objective.metric)
    ratio = _ratio(values)
    more: Sequence[float] = sorted(values)
    for number in itertools.count(1):
        name = stage if number == 1 else f"{stage}-{number}"
        results = yield subject.stage(
            name, {parameter: more}, fix, goal=goal, steps=steps, replicates=replicates
        )
        found |= by_value(results, parameter)
        known = {value: found[value] for value in sorted(found)}
        made = Sweep(parameter, known, {value: score(known[value]) for value in known})
        if made.boundary is None or number > extensions:
            return made
        more = _beyond(made, ratio, len(values) // 2)
    raise AssertionError("unreachable")


def by_value(results: Results, parameter: str) -> dict[float, tuple[Reading, ...]]:
    """The readings of a study by the value of one parameter."""
    found: dict[float, list[Reading]] = {}
    for reading in gather(results).readings:
        value = reading.record.trial.config[parameter]
        found.setdefault(float(value or 0), []).append(reading)
    return {value: tuple(found[value]) for value in sorted(found)}


def mean_loss(metric: Metric) -> Judge:
    """The mean result, turned so that lower is better; a value that fails once does not work."""

    def judge(readings: Sequence[Reading]) -> float:
        if any(reading.standing is Standing.INFEASIBLE for reading in readings):
            return math.inf
        losses = [metric.loss(r.value) for r in readings if r.value is not None]
        return float(np.mean(losses)) if losses else math.inf

    return judge


def orders(centre: float, below: float, above: float, each: int) -> list[float]:
    """Values around a centre, `each` in an order of magnitude, in round numbers.

    >>> orders(0.01, below=1, above=1, each=2)
    [0.001, 0.0032, 0.01, 0.032, 0.1]
    """
    powers = range(-round(below * each), round(above * each) + 1)
    return [float(f"{centre * 10 ** (power / each):.2g}") for power in powers]


def _ratio(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return float((ordered[-1] / ordered[0]) ** (1 / (len(ordered) - 1)))


def _beyond(made: Sweep, ratio: float, count: int) -> list[float]:
    last = made.values[0 if made.boundary == "low" else -1]
    factor = 1 / ratio if made.boundary == "low" else ratio
    further = [last * factor**power for power in range(1, max(count, 2) + 1)]
    return sorted(float(f"{value:.2g}") for value in further)
