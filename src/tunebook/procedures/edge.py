"""The learning rate that is best, and the smallest above it at which training is unstable."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.procedures.courses import Usual, course, shown_by, usual
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep, by_value, mean_loss, orders, sweep

# Rates up to this multiple of the best one are tried before training counts as stable.
FURTHER: Final = 10.0


@dataclass(frozen=True, slots=True)
class Edge:
    """A sweep of learning rates, and what makes a training an unstable one.

    `metric` shows how trainings go and `usual` what those at the best rate do; without them, only
    trials that come to nothing are seen to be unstable.
    """

    sweep: Sweep
    steps: int
    metric: Metric | None
    usual: Usual | None

    @property
    def best(self) -> float | None:
        return self.sweep.best

    @property
    def unstable(self) -> float | None:
        """The smallest rate above the best one at which half of the trials are unstable."""
        above = (r for r in self.sweep.values if self.best is not None and r > self.best)
        return next((rate for rate in above if self.trouble_at(rate)), None)

    def trouble_at(self, rate: float) -> str:
        """Why training at a rate of the sweep is unstable, or nothing."""
        said = [self.trouble(reading, self.steps) for reading in self.sweep.readings[rate]]
        found = [text for text in said if text]
        return found[0] if found and 2 * len(found) >= len(said) else ""

    def trouble(self, reading: Reading, steps: int) -> str:
        """Why the training of a trial of so many steps is unstable, or nothing."""
        if self.metric is not None and self.usual is not None:
            found = course(reading, self.metric, self.usual, steps)
            if found is not None and not found.is_stable:
                return found.why
        return reading.why if reading.standing is Standing.INFEASIBLE else ""

    def first_trouble(self, readings: Sequence[Reading], steps: int) -> str:
        """Why one of several trainings is unstable, or nothing if all are stable."""
        return next(filter(None, (self.trouble(reading, steps) for reading in readings)), "")


def find_edge(
    subject: Subject,
    *,
    goal: str,
    steps: int,
    fix: Config | None = None,
    replicates: int = 2,
) -> Generator[Study, Results, Edge]:
    """Sweep the learning rate; where nothing is unstable, look up to ten times the best rate."""
    rate = str(subject.knobs.learning_rate)
    rates = orders(subject.number("learning_rate"), below=1.5, above=1.5, each=2)
    made = yield from sweep(
        subject, "sweep", rate, rates, goal=goal, fix=fix, steps=steps, replicates=replicates
    )
    edge = edge_of(subject, made, steps)
    if edge.best is None or edge.unstable is not None:
        return edge
    highest = made.values[-1]
    further = [r for r in orders(highest, 0, 1.5, 2) if highest < r <= 1.1 * FURTHER * edge.best]
    if not further:
        return edge
    results = yield subject.stage(
        "sweep-above", {rate: further}, fix, goal=goal, steps=steps, replicates=replicates
    )
    found = by_value(results, rate)
    judge = mean_loss(subject.study.objective.metric)
    scores = {value: judge(readings) for value, readings in found.items()}
    wider = Sweep(rate, {**made.readings, **found}, {**made.scores, **scores}, made.noise)
    return edge_of(subject, wider, steps)


def edge_of(subject: Subject, made: Sweep, steps: int) -> Edge:
    """What a sweep of trainings of so many steps says of stability."""
    good = made.readings[made.best] if made.best is not None else ()
    metric = shown_by(good, subject.knobs, subject.study.objective.metric)
    return Edge(made, steps, metric, usual(good, metric) if metric is not None else None)


def tried(subject: Subject, results: Results) -> tuple[Reading, ...]:
    """The readings of a stage that tries one remedy, in the order of its trials."""
    return tuple(
        r for found in by_value(results, str(subject.knobs.learning_rate)).values() for r in found
    )
