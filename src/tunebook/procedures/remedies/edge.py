"""The learning rate that is best, and the smallest above it at which training is unstable."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunebook.core.errors import StudyError
from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.diagnosis.failures import failed, is_failure, kind_of
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.stability.courses import FLOOR, Usual, course, shown_by, usual
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep, mean_loss, orders, promise, sweep, worse_by
from tunebook.stats.curves import running_median
from tunebook.stats.stability import FEWEST

SWEEP: Final = "sweep"
# An unstable rate that is further above the good ones than this does not keep them down: it is the
# next of the sweep or it is not.
NEAR: Final = 3.5
# Where results promise nothing beyond the best rate, an unstable rate that no remedy cures does no
# harm. A remedy is tried all the same: fresh seeds decide whether it pays.
PROMISING: Final = 0.5
# A loss that rises by less than this factor and comes back, or has no time left to, keeps no rate
# down.
PASSING: Final = 2.0
LATE: Final = 0.9
# Trainings whose loss rises by this share of what it did are clearly calmer.
CALMER: Final = 1 / 3


@dataclass(frozen=True, slots=True)
class Edge:
    """A sweep of learning rates by an objective, and what makes a training an unstable one.

    `metric` shows how trainings go and `usual` what those at the best rate do; without them, only
    trials that come to nothing are seen to be unstable.
    """

    sweep: Sweep
    objective: Metric
    steps: int
    metric: Metric | None
    usual: Usual | None

    @property
    def best(self) -> float | None:
        return self.sweep.best

    @property
    def at_best(self) -> tuple[Reading, ...]:
        return self.sweep.readings[self.best] if self.best is not None else ()

    @property
    def unstable(self) -> float | None:
        """The smallest rate above the best one at which half of the trials are unstable."""
        above = (r for r in self.sweep.values if self.best is not None and r > self.best)
        return next((rate for rate in above if self.trouble_at(rate)), None)

    @property
    def is_near(self) -> bool:
        """Whether the unstable rate follows at once on one that is as good as the best."""
        unstable = self.unstable
        if unstable is None:
            return False
        below = [rate for rate in self.sweep.working if rate < unstable]
        return unstable <= NEAR * max(filter(self.sweep.is_as_good, below), default=0.0)

    @property
    def to_cure(self) -> tuple[float, float] | None:
        """The best and the smallest unstable rate, where instability may keep the rate down."""
        if self.best is None or self.unstable is None or self.usual is None:
            return None
        return (self.best, self.unstable) if self.is_near and not self.sweep.boundary else None

    @property
    def worse(self) -> float | None:
        """The smallest rate above the good ones: it is worse beyond noise, and no loss shows why.

        The first steps may do harm that leaves no trace but a worse result.
        """
        if self.best is None or self.usual is None or self.sweep.boundary:
            return None
        good = max(filter(self.sweep.is_as_good, self.sweep.working))
        found = next((rate for rate in self.sweep.values if rate > good), None)
        steady = not self.trouble_at(self.best) and found is not None and not self.trouble_at(found)
        return found if steady else None

    @property
    def is_promising(self) -> bool:
        """Whether the unstable rate would be better than the best one, were it stable."""
        if self.best is None or self.unstable is None:
            return False
        return promise(self.sweep, self.unstable / self.best) <= PROMISING

    def score(self, readings: Sequence[Reading]) -> float:
        """What trainings are worth, as rates of the sweep are: lower is better."""
        return mean_loss(self.objective)(readings)

    def are_as_good(self, readings: Sequence[Reading], as_these: Sequence[Reading]) -> bool:
        """Whether trainings are as good as others on the same seeds, within the sweep's noise."""
        margin = math.sqrt(2.0) * (self.sweep.noise or 0.0)
        return worse_by(self.objective, readings, as_these) <= margin

    def is_worth_tuning(self, readings: Sequence[Reading], rate: float) -> bool:
        """Whether a remedy at a rate is as good as the best one, or better than none beyond noise.

        What helps at a rate above the best may help at the best one too: fresh seeds decide that.
        """
        margin = math.sqrt(2.0) * (self.sweep.noise or 0.0)
        better = worse_by(self.objective, readings, self.sweep.readings[rate]) < -margin
        return better or self.are_as_good(readings, self.at_best)

    def told(self, readings: Sequence[Reading]) -> str:
        """What trainings came to: a mean of `valid/loss 0.25`."""
        score = self.score(readings)
        if not math.isfinite(score):
            return "no result"
        return f"{self.objective.name} {shown(self.objective.loss(score))}"

    def trouble_at(self, rate: float) -> str:
        """Why training at a rate of the sweep is unstable, or nothing.

        Half of the trainings above the best rate, but most of those at the best rate itself: one
        that rises where the others do well may be noise.
        """
        is_best = rate == self.best
        return self.trouble_among(self.sweep.readings[rate], self.steps, more_than_half=is_best)

    def trouble_among(
        self, readings: Sequence[Reading], steps: int, *, more_than_half: bool = False
    ) -> str:
        """Why half of several trainings, or more, are unstable; nothing where fewer are."""
        said = [self.trouble(reading, steps) for reading in readings]
        told = [text for text in said if text is not None]
        found = [text for text in told if text]
        needed = len(told) // 2 + 1 if more_than_half else (len(told) + 1) // 2
        return found[0] if found and len(found) >= needed else ""

    def trouble(self, reading: Reading, steps: int) -> str | None:
        """Why the training of a trial of so many steps is unstable; nothing where it is stable.

        None where it cannot be told. An error that high rates of the sweep end in is what they do.
        """
        if is_failure(reading) and kind_of(reading.why) in self._fatal:
            return reading.why
        if self.metric is not None and self.usual is not None:
            found = course(reading, self.metric, self.usual, steps)
            if found is None:
                return None
            late = found.onset is not None and found.onset > LATE * steps
            passing = found.factor < PASSING and (found.recovered or late)
            return "" if passing else found.why
        return reading.why if reading.standing is Standing.INFEASIBLE else None

    @property
    def _fatal(self) -> set[str]:
        """The kinds of error that occur at some rates of the sweep and not at others."""
        return {
            kind_of(reading.why)
            for readings in self.sweep.readings.values()
            for reading in readings
            if reading.standing is Standing.INFEASIBLE and failed(reading)
        }

    def trouble_in(self, readings: Sequence[Reading], steps: int) -> str | None:
        """Why one of several trainings is unstable; nothing where all are stable.

        None where some cannot be told, and the others are stable.
        """
        said = [self.trouble(reading, steps) for reading in readings]
        unstable = next(filter(None, said), None)
        return unstable or (None if None in said or not said else "")

    def onset(self, reading: Reading, steps: int) -> float | None:
        """The step from which on a training is unstable; None where it is not, or nobody knows."""
        if self.metric is None or self.usual is None:
            return None
        found = course(reading, self.metric, self.usual, steps)
        return None if found is None else found.onset

    def rises(self, readings: Sequence[Reading], steps: int) -> tuple[float, ...]:
        """How far the loss of each training rises above its lowest so far, in logs above a floor.

        It is smoothed by a median of 3. Infinite where it does not stay finite, or where the trial
        came to nothing; trainings that cannot be told are left out.
        """
        return tuple(
            self.rise(reading) for reading in readings if self.trouble(reading, steps) is not None
        )

    def rise(self, reading: Reading) -> float:
        """The same for one training; infinite, too, where there is nothing to see."""
        curve = reading.curve(self.metric.name) if self.metric is not None else None
        if self.metric is None or self.usual is None or curve is None:
            return math.inf
        losses = np.array([self.metric.loss(value) for value in curve.values.tolist()])
        if reading.standing is Standing.INFEASIBLE or not np.all(np.isfinite(losses)):
            return math.inf
        lowest = min(self.usual.start - self.usual.fall, float(losses.min()))
        smooth = running_median(np.log(losses - lowest + FLOOR * self.usual.fall), 3)
        return float(np.max(smooth - np.minimum.accumulate(smooth)))

    def seen_after(self, steps: int) -> int:
        """The steps after which a training shows how it goes: so many, or more.

        The usual training is more than half way down by then, and the loss has points enough.
        """
        if self.metric is None or self.usual is None or self.best is None:
            return steps
        curves = [reading.curve(self.metric.name) for reading in self.sweep.readings[self.best]]
        apart = [float(c.steps[-1]) / len(c) for c in curves if c is not None]
        points = 2 * FEWEST * max(apart, default=1.0)
        half_way = self.usual.half_way if math.isfinite(self.usual.half_way) else 0.0
        return max(steps, math.ceil(points), math.ceil(2 * half_way))


def find_edge(
    subject: Subject,
    *,
    goal: str,
    steps: int,
    fix: Config | None = None,
    replicates: int = 2,
) -> Generator[Study, Results, Edge]:
    """Sweep the learning rate until the best is no end of it: then the next rate is known, too."""
    rate = subject.name("learning_rate")
    rates = orders(subject.number("learning_rate"), below=1.5, above=1.5, each=2)
    made = yield from sweep(
        subject, SWEEP, rate, rates, goal=goal, fix=fix, steps=steps, replicates=replicates
    )
    return edge_of(subject, made, steps)


def edge_of(subject: Subject, made: Sweep, steps: int) -> Edge:
    """What a sweep of trainings of so many steps says of stability."""
    good = made.readings[made.best] if made.best is not None else ()
    objective = subject.study.objective.metric
    metric = shown_by(good, subject.knobs, objective)
    compared = usual(good, metric) if metric is not None else None
    return Edge(made, objective, steps, metric, compared)


def are_calmer(rises: Sequence[float], than: Sequence[float]) -> bool:
    """Whether trainings rise clearly less than others do, by their medians."""
    if not rises or not than:
        return False
    ours, theirs = float(np.median(rises)), float(np.median(than))
    return math.isfinite(ours) and theirs > 0.0 and ours <= CALMER * theirs


def whole_steps(subject: Subject, probe: str, least: int) -> int:
    """The steps of a whole training of the study, which must be so many at least."""
    steps = subject.steps
    if steps is None:
        raise StudyError(
            f"the probe {probe} varies trainings of a known length, and "
            f"{subject.knobs.steps or 'max_steps'} has no value; give it one, in the study or by "
            "--set"
        )
    if steps < least:
        raise StudyError(
            f"the probe {probe} needs trainings of {least} steps at least, got {steps}: in fewer, "
            "instability does not show"
        )
    return steps
