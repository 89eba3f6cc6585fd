"""Whether a remedy pays: the learning rate tuned again with it, then both over fresh seeds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Choice, Float, Int
from tunebook.core.edits import SetParameter, widened
from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import Results, TrialRecord
from tunebook.core.space import Config, Derived, Fixed
from tunebook.core.study import Study
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Side, mean_loss, orders, readings_of, sweep
from tunebook.stats.ranks import rank_p
from tunebook.stats.samples import Interval, welch_interval, welch_p

# A remedy adds complexity, and must earn it: 5% over the two comparisons that a probe may make.
LEVEL: Final = 0.025
SEEDS: Final = 5
# At this level a remedy is said to be worse, where it is not wanted for better results alone.
WORSE: Final = 0.2
# Seeds of each rate that is tuned: one alone is luck.
REPLICATES: Final = 2
METHOD: Final = (
    "Welch's one-sided test over fresh seeds, at 2.5%; by ranks where trials came to nothing"
)
# How far inside its range a rate must lie for the range to stay as it is.
_MARGIN: Final = 10**0.5


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration by what it changes, and the steps of its trials."""

    fix: Config
    steps: int


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best learning rate of a variant, and the highest up to which all work.

    `end` is the end of what was tried at which the best is: there may be a better one beyond.
    """

    rate: float
    highest: float
    end: Side | None = None


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Results over fresh seeds, how many trials came to nothing, and how many broke.

    `end` is the end of what was tuned at which their learning rate is.
    """

    values: tuple[float, ...]
    lost: int = 0
    readings: tuple[Reading, ...] = ()
    end: Side | None = None
    broken: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Results without a remedy, or with the study's own, and with the one that was found."""

    metric: Metric
    before: Outcomes
    after: Outcomes

    @property
    def gain(self) -> Interval | None:
        """By how much the second is better on average, with its 95% interval."""
        return welch_interval(self._losses(self.before), self._losses(self.after))

    @property
    def p(self) -> float | None:
        """The chance of such a gain between equals; None where too few trials tell.

        Trials that came to nothing are worse than all others, and only ranks can say so. Those that
        broke may have done so for what is compared, or not: what is left would be a selection.
        """
        if self.broken or self.is_seedless:
            return None
        if not self.before.lost and not self.after.lost:
            return welch_p(self._losses(self.after), self._losses(self.before))
        before, after = (
            self._losses(one) + [math.inf] * one.lost for one in (self.before, self.after)
        )
        return rank_p(after, before) if min(len(before), len(after)) > 1 else None

    @property
    def is_seedless(self) -> bool:
        """Whether both are the same for every seed, and differ: what luck does is not known.

        So many copies of one number are one.
        """
        values = [set(one.values) for one in (self.before, self.after)]
        several = min(len(self.before.values), len(self.after.values)) > 1
        return several and all(len(one) == 1 for one in values) and values[0] != values[1]

    @property
    def is_better(self) -> bool:
        """Better beyond luck than what is as well tuned, and it works on every seed."""
        return self._wins and self.before.end is None

    @property
    def is_as_good(self) -> bool:
        """Not worse, at 20%, than what is as well tuned, and it works on every seed."""
        worse = Comparison(self.metric, self.after, self.before).p
        well_tuned = self.before.end is None and not self.after.lost
        return well_tuned and worse is not None and worse > WORSE

    @property
    def half_tuned(self) -> Outcomes | None:
        """The worse of both, where its rate is an end of what was tuned: it may be better yet."""
        worse = self.before if self._wins else self.after
        return worse if worse.end is not None else None

    @property
    def _wins(self) -> bool:
        return not self.after.lost and self.p is not None and self.p <= LEVEL

    @property
    def broken(self) -> int:
        return self.before.broken + self.after.broken

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """The trials of both."""
        return tuple(r.record for one in (self.before, self.after) for r in one.readings)

    def __str__(self) -> str:
        if self.broken:
            whole = sum(len(one.values) + one.lost for one in (self.before, self.after))
            return f"{self.broken} of {whole + self.broken} trials broke, and the rest is no answer"
        if self.is_seedless:
            one, other = _mean(self.after), _mean(self.before)
            return (
                f"{self.metric.name} {one} against {other}, the same for every seed: whether that "
                "is more than luck is not known"
            )
        if self.p is None:
            return "too few trials came to an end to compare them"
        seeds = [len(one.values) + one.lost for one in (self.after, self.before)]
        text = (
            f"{self.metric.name} {_mean(self.after)} against {_mean(self.before)}, over {seeds[0]} "
            f"and {seeds[1]} fresh seeds"
        )
        if self.gain is not None:
            gain = self.gain
            text += f": a gain of {shown(gain.estimate)} ({shown(gain.low)} to {shown(gain.high)})"
        if self.before.lost or self.after.lost:
            text += f"; of these, {self.after.lost} and {self.before.lost} came to nothing"
        return text

    def _losses(self, outcomes: Outcomes) -> list[float]:
        return [self.metric.loss(value) for value in outcomes.values]


def tuned(
    subject: Subject,
    stage: str,
    variant: Variant,
    rates: Sequence[float],
    *,
    goal: str,
    refused: Callable[[Sequence[Reading]], bool] = lambda _: False,
) -> Generator[Study, Results, Tuned | None]:
    """The best learning rate of a variant at its full length; None where none works.

    A rate whose trainings are `refused` does not work, however good their results are.
    """
    name = subject.name("learning_rate")
    loss = mean_loss(subject.study.objective.metric)

    def judge(readings: Sequence[Reading]) -> float:
        return math.inf if refused(readings) else loss(readings)

    made = yield from sweep(
        subject,
        stage,
        name,
        rates,
        goal=goal,
        fix=variant.fix,
        steps=variant.steps,
        replicates=REPLICATES,
        judge=judge,
        extensions=1,
    )
    if made.best is None:
        return None
    # Above one that does not work, what does is luck.
    above = itertools.takewhile(
        lambda rate: math.isfinite(made.scores[rate]), (r for r in made.values if r >= made.best)
    )
    return Tuned(made.best, max(above), made.boundary)


def rates_up_to(low: float, high: float) -> list[float]:
    """Half orders of magnitude from just below one rate up to another."""
    found = [rate for rate in orders(low, 0.5, 6, 2) if rate <= 1.1 * high]
    return found if len(found) > 1 else orders(low, 0.5, 0, 2)


def with_rate(subject: Subject, variant: Variant, rate: float) -> Variant:
    return Variant({**variant.fix, subject.name("learning_rate"): rate}, variant.steps)


def over_seeds(
    subject: Subject,
    stage: str,
    variant: Variant,
    *,
    seeds: int,
    goal: str,
    end: Side | None = None,
) -> Generator[Study, Results, Outcomes]:
    """A variant on fresh seeds: no run that led to its choice counts."""
    results = yield subject.listed(stage, [{}] * seeds, variant.fix, goal=goal, steps=variant.steps)
    readings = readings_of(results)
    values = tuple(r.value for r in readings if r.value is not None)
    lost = sum(r.standing is Standing.INFEASIBLE for r in readings)
    broken = sum(r.standing is Standing.BROKEN for r in readings)
    return Outcomes(values, lost, readings, end, broken)


def rate_edit(
    subject: Subject, rate: float, because: str, highest: float = math.inf
) -> tuple[SetParameter, ...]:
    """What must change so that a learning rate is used, or is well inside what is searched.

    No range is widened beyond the highest rate of which it is known that it works.
    """
    name = subject.name("learning_rate")
    source = subject.study.space[name].source
    match source:
        case Float() | Int():
            ends = (rate / _MARGIN, max(min(rate * _MARGIN, highest), rate))
            low, high = (float(f"{end:.2g}") for end in ends)
            wider = widened(source, low, high)
            return (SetParameter(name, wider, because),) if wider != source else ()
        case Choice():
            if source.contains(rate):
                return ()
            return (SetParameter(name, Choice((*source.values, rate)), because),)
        case Fixed() if source == Fixed(rate):
            return ()
        case Derived():
            return ()
        case _:
            return (SetParameter(name, Fixed(rate), because),)


def by_hand(subject: Subject, rate: float) -> str:
    """What to do where a study computes its rate, and no edit can set it; nothing where one can."""
    name = subject.name("learning_rate")
    source = subject.study.space[name].source
    if not isinstance(source, Derived) or subject.value("learning_rate") == rate:
        return ""
    return f"{name} is computed, as {source.expression}: see to it that it is {shown(rate)}."


def _mean(outcomes: Outcomes) -> str:
    values = outcomes.values
    return shown(sum(values) / len(values)) if values else "nothing"
