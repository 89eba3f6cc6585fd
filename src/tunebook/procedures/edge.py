"""The learning rate that is best, and the smallest above it at which training is unstable."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tunebook.core.evidence import Reading, Standing
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.diagnosis.phrases import times
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep, by_value, mean_loss, orders, sweep
from tunebook.stats.stability import Kind, training_stability

# One in a hundred healthy curves would look unstable; few of them are looked at.
LEVEL: Final = 0.01
# Rates up to this multiple of the best one are tried before training counts as stable.
FURTHER: Final = 10.0


@dataclass(frozen=True, slots=True)
class Edge:
    """A sweep of learning rates, and why the rates at which training is unstable are so."""

    sweep: Sweep
    trouble: dict[float, str]

    @property
    def best(self) -> float | None:
        return self.sweep.best

    @property
    def unstable(self) -> float | None:
        """The smallest unstable rate above the best one."""
        above = (r for r in self.sweep.values if self.best is not None and r > self.best)
        return next((rate for rate in above if rate in self.trouble), None)


def find_edge(
    subject: Subject,
    *,
    goal: str,
    steps: int,
    fix: Config | None = None,
    replicates: int = 2,
    stage: str = "sweep",
) -> Generator[Study, Results, Edge]:
    """Sweep the learning rate; where nothing is unstable, look up to ten times the best rate."""
    rate = str(subject.knobs.learning_rate)
    rates = orders(subject.number("learning_rate"), below=1.5, above=1.5, each=2)
    made = yield from sweep(
        subject, stage, rate, rates, goal=goal, fix=fix, steps=steps, replicates=replicates
    )
    edge = Edge(made, troubles(subject, made.readings))
    if edge.best is None or edge.unstable is not None:
        return edge
    highest = made.values[-1]
    further = [r for r in orders(highest, 0, 1.5, 2) if highest < r <= 1.1 * FURTHER * edge.best]
    if not further:
        return edge
    results = yield subject.stage(
        f"{stage}-above", {rate: further}, fix, goal=goal, steps=steps, replicates=replicates
    )
    found = by_value(results, rate)
    judge = mean_loss(subject.study.objective.metric)
    scores = {value: judge(readings) for value, readings in found.items()}
    wider = Sweep(rate, {**made.readings, **found}, {**made.scores, **scores}, made.noise)
    return Edge(wider, troubles(subject, wider.readings))


def troubles(subject: Subject, found: Mapping[float, Sequence[Reading]]) -> dict[float, str]:
    """Why training is unstable, for each value at which it is so in half of the trials or more."""
    said = {value: [trouble(subject, r) for r in readings] for value, readings in found.items()}
    return {
        value: next(filter(None, texts))
        for value, texts in said.items()
        if 2 * sum(map(bool, texts)) >= max(len(texts), 1) and any(texts)
    }


def trouble(subject: Subject, reading: Reading) -> str:
    """Why training is unstable in a trial, or nothing."""
    if reading.standing is Standing.INFEASIBLE:
        return reading.why
    curve = reading.curve(str(subject.knobs.train_loss))
    if curve is None:
        return ""
    found = training_stability(curve.steps, curve.values, level=LEVEL)
    if found is None or found.kind is Kind.STABLE:
        return ""
    return (
        f"the training loss rises to {times(found.factor)} what it was, from step {found.onset:g}"
    )
