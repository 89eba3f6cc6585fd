"""A goal that training is to reach, and when a trial reached it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tunebook.core.curves import Floats, Ints
from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.representation import number
from tunebook.core.results import TrialRecord
from tunebook.procedures.needs import remedy
from tunebook.procedures.options import GOAL_SEEDS, batch_sizes
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Judge
from tunebook.stats.goal_steps import WINDOW, step_of_goal


@dataclass(frozen=True, slots=True)
class Goal:
    """A value of the objective's metric to be reached, and how to look for it."""

    metric: Metric
    value: float
    sizes: tuple[int, ...] = ()
    seeds: int = GOAL_SEEDS

    @staticmethod
    def of(subject: Subject, options: Mapping[str, Value]) -> Goal:
        """As the options say; the target is the study's where they do not."""
        given = options.get("goal")
        target = given if isinstance(given, int | float) else subject.knobs.target
        if target is None:
            raise StudyError(
                f"--to-goal needs a goal: give --goal VALUE, a value of "
                f"{subject.study.objective.metric.name}, or {remedy('target', subject.study)}"
            )
        unit = subject.knobs.steps_unit
        if unit != "steps":
            raise StudyError(
                f"--to-goal counts steps, and the study counts {unit}: write 'max_steps: 2000', or "
                "name a parameter that counts steps under knobs"
            )
        if subject.knobs.learning_rate is None:
            raise StudyError(
                "--to-goal tunes the learning rate again at each size, and the study names none: "
                f"{remedy('learning_rate', subject.study)}"
            )
        sizes, seeds = options.get("sizes"), options.get("seeds")
        return Goal(
            subject.study.objective.metric,
            float(target),
            batch_sizes(sizes) if sizes is not None else (),
            int(seeds) if isinstance(seeds, int) else GOAL_SEEDS,
        )

    @property
    def text(self) -> str:
        sign = "<=" if self.metric.better == "lower" else ">="
        return f"{self.metric.name} {sign} {number(self.value)}"

    def crossing(self, record: TrialRecord) -> tuple[float, float]:
        """Between which steps the goal was reached; +inf: it was not.

        A single evaluation may meet it by luck, and the more of them there are the sooner: the mean
        of some counts. What comes after it does not: the smaller a batch, the longer its trial, and
        the more often noise would take it back above the goal. A trial that was on its way when it
        ended is censored where it last missed.
        """
        steps, losses = self._losses(record)
        level, window = self.metric.loss(self.value), _window(losses)
        met = np.flatnonzero(_means(losses, window) <= level)
        if not len(met):
            missed = np.flatnonzero(~(losses <= level))
            return float(steps[missed[-1]]) if len(missed) else 0.0, math.inf
        end = int(met[0]) + window
        found = step_of_goal(steps[:end], losses[:end], level, window)
        return (found.after, found.until) if found is not None else (0.0, math.inf)

    def steps(self, record: TrialRecord) -> float:
        """The step at which the goal was reached, between two evaluations in proportion."""
        after, until = self.crossing(record)
        if math.isinf(until) or after <= 0.0:
            return until
        steps, losses = self._losses(record)
        at = int(np.searchsorted(steps, after))
        one, other = losses[at : at + 2]
        if steps[at + 1] < until:
            # Evaluations on both sides of the goal: somewhere among them.
            return (after + until) / 2.0
        if not math.isfinite(one) or one <= other:
            return until
        return after + float((one - self.metric.loss(self.value)) / (one - other)) * (until - after)

    def nearest(self, record: TrialRecord) -> float:
        """How far above the goal the best mean of some evaluations stayed, at least 0."""
        _, losses = self._losses(record)
        means = _means(losses, _window(losses))
        away = np.nanmin(np.append(means, math.inf)) - self.metric.loss(self.value)
        return max(float(away), 0.0)

    def _losses(self, record: TrialRecord) -> tuple[Ints, Floats]:
        """The evaluations of a trial, lower for better."""
        curve = record.curves.get(self.metric.name)
        if curve is None:
            return np.array([], dtype=np.int64), np.array([])
        return curve.steps, np.array([self.metric.loss(float(value)) for value in curve.values])


def _window(losses: Floats) -> int:
    """How many evaluations are taken together: fewer where there are few, and further apart."""
    return min(max(len(losses) // WINDOW, 1), WINDOW)


def _means(losses: Floats, window: int) -> Floats:
    """The means of all windows; none of no losses."""
    if not len(losses):
        return losses
    return np.asarray(np.lib.stride_tricks.sliding_window_view(losses, window).mean(axis=1))


def steps_judge(goal: Goal, limit: int) -> Judge:
    """Steps to the goal; behind all that reach it, the others by how near they came."""

    def judge(readings: Sequence[Reading]) -> float:
        known = [score(r) for r in readings if r.standing is not Standing.BROKEN]
        return float(np.mean(known)) if known else math.nan

    def score(reading: Reading) -> float:
        steps = goal.steps(reading.record)
        if math.isfinite(steps):
            return steps
        if reading.standing is Standing.INFEASIBLE:
            return math.inf
        away = goal.nearest(reading.record)
        return limit * (2.0 + away / (1.0 + away)) if math.isfinite(away) else math.inf

    return judge
