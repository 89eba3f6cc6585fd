"""Whether a remedy pays: the learning rate tuned again with it, then both over fresh seeds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Float, Int
from tunebook.core.edits import SetParameter
from tunebook.core.evidence import Standing
from tunebook.core.objective import Metric
from tunebook.core.results import Results
from tunebook.core.space import Config, Fixed
from tunebook.core.study import Study
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep, orders, sweep
from tunebook.stats.samples import Interval, welch_interval, welch_p

# A remedy adds complexity, and must earn it: 5% over the two comparisons that a probe may make.
LEVEL: Final = 0.025
# How far inside its range a rate must lie for the range to stay as it is.
_MARGIN: Final = 10**0.5


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration by what it changes, and the steps of its trials."""

    fix: Config
    steps: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Results of both over fresh seeds, and how many of their trials came to nothing."""

    metric: Metric
    before: tuple[float, ...]
    after: tuple[float, ...]
    lost_before: int
    lost_after: int

    @property
    def gain(self) -> Interval | None:
        """By how much the second is better on average, with its 95% interval."""
        return welch_interval(self._losses(self.before), self._losses(self.after))

    @property
    def p(self) -> float | None:
        """The chance of such a gain between equals, by Welch's one-sided test."""
        return welch_p(self._losses(self.after), self._losses(self.before))

    @property
    def is_better(self) -> bool:
        """Better beyond luck; or it works on every seed while the other does not."""
        if self.lost_after:
            return False
        return self.lost_before > 1 or (self.p is not None and self.p <= LEVEL)

    def __str__(self) -> str:
        gain = self.gain
        if gain is None:
            return "too few trials came to a result to compare them"
        lost = ""
        if self.lost_before or self.lost_after:
            lost = f"; {self.lost_before} without and {self.lost_after} with it came to nothing"
        return (
            f"{self.metric.name} {_mean(self.after)} with it and {_mean(self.before)} without, "
            f"over {len(self.after)} and {len(self.before)} fresh seeds: a gain of "
            f"{shown(gain.estimate)} ({shown(gain.low)} to {shown(gain.high)}){lost}"
        )

    def _losses(self, values: tuple[float, ...]) -> list[float]:
        return [self.metric.loss(value) for value in values]


def tuned_again(
    subject: Subject, stage: str, variant: Variant, low: float, high: float, *, goal: str
) -> Generator[Study, Results, Sweep]:
    """The learning rate tuned again with a remedy, from the old best rate up to what it allows."""
    rate = str(subject.knobs.learning_rate)
    rates = [r for r in orders(low, 0.5, 4, 2) if r <= 1.1 * high]
    return (
        yield from sweep(
            subject,
            stage,
            rate,
            rates,
            goal=goal,
            fix=variant.fix,
            steps=variant.steps,
            extensions=1,
        )
    )


def compared(
    subject: Subject, stage: str, before: Variant, after: Variant, *, seeds: int, goal: str
) -> Generator[Study, Results, Comparison]:
    """Both variants on fresh seeds: no run that led to the choice counts."""
    found = []
    for name, variant in (("before", before), ("after", after)):
        results = yield subject.listed(
            f"{stage}-{name}", [{}] * seeds, variant.fix, goal=goal, steps=variant.steps
        )
        readings = gather(results).readings
        values = tuple(r.value for r in readings if r.value is not None)
        found.append((values, sum(r.standing is Standing.INFEASIBLE for r in readings)))
    (values, lost), (values_after, lost_after) = found
    metric = subject.study.objective.metric
    return Comparison(metric, values, values_after, lost, lost_after)


def rate_edit(subject: Subject, rate: float, because: str) -> tuple[SetParameter, ...]:
    """What must change so that a learning rate is used, or is well inside what is searched."""
    name = str(subject.knobs.learning_rate)
    source = subject.study.space[name].source
    if not isinstance(source, Float | Int):
        return (SetParameter(name, Fixed(rate), because),)
    low, high = min(source.low, rate / _MARGIN), max(source.high, rate * _MARGIN)
    if (low, high) == (source.low, source.high):
        return ()
    wider = Float(float(f"{low:.2g}"), float(f"{high:.2g}"), log=source.log)
    return (SetParameter(name, wider, because),)


def _mean(values: tuple[float, ...]) -> str:
    return shown(sum(values) / len(values))
