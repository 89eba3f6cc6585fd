"""Whether a remedy pays: both over fresh seeds, more and more of them until it is clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tunebook.core.domains import same_value
from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.remedies.tuning import Variant, with_rate
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Side, readings_of
from tunebook.stats.ranks import rank_p
from tunebook.stats.samples import Interval, welch_interval, welch_p
from tunebook.stats.sequential import Looks, looks_up_to

# A remedy adds complexity, and must earn it: 5% over the two comparisons that a probe may make.
LEVEL: Final = 0.025
# Of each arm, at most.
SEEDS: Final = 20
# At this level a remedy is said to be worse, where it is not wanted for better results alone.
WORSE: Final = 0.2
METHOD: Final = (
    "Welch's one-sided test over fresh seeds, group-sequential: it looks at 5, 8, 12 and 20 of "
    "each arm, or up to --seeds, at 2.5% over all looks, and ends early where there is little "
    "hope; by ranks where trials came to nothing"
)
# At the first look, if there are as many: what fails on one seed of three is seldom seen on fewer,
# and coarse results of fewer may all be the same.
FIRST: Final = 5
# As many equal results come of a program without luck; of fewer, coarse ones may all be equal.
SEEDLESS: Final = 8


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a comparison: the stage of its trials, what they train, and how it was tuned.

    `end` is the end of what was tuned at which its learning rate is.
    """

    stage: str
    variant: Variant
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
    """Results without a remedy, or with the study's own, and with the one that was found.

    One is better at p-values up to `level`, which is lower where one has looked before. Each may
    have `most` seeds, if that is known. Where both have rates of their own, `control` is the first
    at the rate of the second: what is as good there owes nothing to the remedy.
    """

    metric: Metric
    before: Outcomes
    after: Outcomes
    level: float = LEVEL
    most: int | None = None
    control: Outcomes | None = None

    @property
    def size(self) -> int:
        """The seeds of the first."""
        return len(self.before.values) + self.before.lost + self.before.broken

    @property
    def is_at_end(self) -> bool:
        """Whether there were no more seeds to be had."""
        return self.most is None or self.size >= self.most

    @property
    def gain(self) -> Interval | None:
        """By how much the second is better on average, with its interval.

        It is as wide as the level asks for: of intervals at all looks, all hold the truth in 95%.
        """
        confidence = 1.0 - 2.0 * self.level
        return welch_interval(self._losses(self.before), self._losses(self.after), confidence)

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

        So many copies of one number are one. Seeds that come to nothing are luck.
        """
        if self.before.lost or self.after.lost:
            return False
        values = [set(one.values) for one in (self.before, self.after)]
        several = min(len(self.before.values), len(self.after.values)) > 1
        return several and all(len(one) == 1 for one in values) and values[0] != values[1]

    @property
    def is_better(self) -> bool:
        """Better beyond luck than what is as well tuned, and it works on every seed.

        It must be the remedy that is better, and not the rate that it has.
        """
        return self.wins and self.before.end is None and not self.is_of_rate

    @property
    def is_of_rate(self) -> bool:
        """Whether the gain is that of the learning rate: without the remedy it is about as good.

        Of two sweeps over few seeds one may find the better rate by luck.
        """
        if self.control is None:
            return False
        p = Comparison(self.metric, self.control, self.after).p
        return p is None or p > WORSE

    @property
    def is_as_good(self) -> bool:
        """Not worse, at 20%, than what is as well tuned, and it works on every seed."""
        worse = Comparison(self.metric, self.after, self.before).p
        well_tuned = self.before.end is None and not self.after.lost
        return well_tuned and worse is not None and worse > WORSE

    @property
    def half_tuned(self) -> Outcomes | None:
        """The worse of both, where its rate is an end of what was tuned: it may be better yet."""
        worse = self.before if self.wins else self.after
        return worse if worse.end is not None else None

    @property
    def wins(self) -> bool:
        """Whether its results are better beyond luck, whatever that is owed to."""
        return not self.after.lost and self.p is not None and self.p <= self.level

    @property
    def broken(self) -> int:
        return sum(one.broken for one in self._arms)

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """The trials of all."""
        return tuple(r.record for one in self._arms for r in one.readings)

    @property
    def _arms(self) -> tuple[Outcomes, ...]:
        control = (self.control,) if self.control is not None else ()
        return (self.before, self.after, *control)

    def __str__(self) -> str:
        if self.broken:
            whole = sum(len(one.values) + one.lost for one in self._arms)
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
        if self.control is not None:
            text += f"; at the same rate without it, {_mean(self.control)}"
        return text

    def _losses(self, outcomes: Outcomes) -> list[float]:
        return [self.metric.loss(value) for value in outcomes.values]


def compared(
    subject: Subject,
    before: Arm,
    after: Arm,
    *,
    most: int,
    goal: str,
    other_p: Callable[[Comparison], float] = lambda _: 1.0,
) -> Generator[Study, Results, Comparison]:
    """Two arms on fresh seeds, more of them until one is better, there is no hope, or they end.

    Where the second wins at a rate of its own, the first is tried at that rate, too.
    No run that led to the choice of an arm counts. `other_p` is the p-value of another merit that
    the same trials may show, at the same levels, and that counts where results are as good.
    """
    looks = looks_up_to(most, LEVEL, FIRST)
    drawn: tuple[list[Outcomes], list[Outcomes]] = ([], [])
    metric = subject.study.objective.metric
    found = Comparison(metric, Outcomes(()), Outcomes(()), looks.level, most)
    for number, size in enumerate(looks.sizes, 1):
        for arm, had in zip((before, after), drawn, strict=True):
            seeds = size - sum(len(one.readings) for one in had)
            had.append((yield from over_seeds(subject, arm, number, seeds=seeds, goal=goal)))
        found = Comparison(metric, joined(drawn[0]), joined(drawn[1]), looks.level, most)
        if is_settled(found, looks, other_p(found)):
            break
    name = subject.name("learning_rate")
    own, other = before.variant.fix[name], after.variant.fix[name]
    if not found.wins or same_value(own, other):
        return found
    without = Arm(f"{after.stage}-without", with_rate(subject, before.variant, other))
    control = yield from over_seeds(subject, without, 1, seeds=found.size, goal=goal)
    return replace(found, control=control)


def is_settled(found: Comparison, looks: Looks, other_p: float = 1.0) -> bool:
    """Whether more seeds would change nothing, or are not worth their price.

    With a trial that came to nothing it is no remedy, whatever others come to; with one that broke
    nothing can be told.
    """
    if found.p is None:
        return not found.is_seedless or found.size >= SEEDLESS
    won = found.p <= looks.level or (other_p <= looks.level and found.is_as_good)
    hopeless = looks.is_hopeless(found.size, min(found.p, other_p))
    return won or hopeless or found.after.lost > 0


def over_seeds(
    subject: Subject, arm: Arm, look: int, *, seeds: int, goal: str
) -> Generator[Study, Results, Outcomes]:
    """An arm on so many seeds of its own, for one look at it."""
    stage = arm.stage if look == 1 else f"{arm.stage}-{look}"
    variant = arm.variant
    results = yield subject.listed(stage, [{}] * seeds, variant.fix, goal=goal, steps=variant.steps)
    readings = readings_of(results)
    values = tuple(r.value for r in readings if r.value is not None)
    lost = sum(r.standing is Standing.INFEASIBLE for r in readings)
    broken = sum(r.standing is Standing.BROKEN for r in readings)
    return Outcomes(values, lost, readings, arm.end, broken)


def joined(drawn: Sequence[Outcomes]) -> Outcomes:
    """What came of an arm at all looks together."""
    return Outcomes(
        tuple(value for one in drawn for value in one.values),
        sum(one.lost for one in drawn),
        tuple(reading for one in drawn for reading in one.readings),
        drawn[0].end,
        sum(one.broken for one in drawn),
    )


def _mean(outcomes: Outcomes) -> str:
    values = outcomes.values
    return shown(sum(values) / len(values)) if values else "nothing"
