"""A goal that training is to reach, and when a trial reached it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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
                f"{subject.study.objective.metric.name}, or {remedy('target')}"
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
                f"{remedy('learning_rate')}"
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
        """The last evaluation that missed the goal and the first that met it; +inf: none did."""
        curve = record.curves.get(self.metric.name)
        if curve is None or not len(curve):
            return 0.0, math.inf
        losses = np.array([self.metric.loss(float(value)) for value in curve.values])
        met = np.flatnonzero(losses <= self.metric.loss(self.value))
        if not len(met):
            return float(curve.steps[-1]), math.inf
        first = int(met[0])
        return float(curve.steps[first - 1]) if first else 0.0, float(curve.steps[first])

    def steps(self, record: TrialRecord) -> float:
        """The step at which the goal was reached, between evaluations in proportion."""
        after, until = self.crossing(record)
        curve = record.curves.get(self.metric.name)
        if math.isinf(until) or curve is None or after <= 0.0:
            return until
        at = int(np.searchsorted(curve.steps, after))
        one, other = (self.metric.loss(float(v)) for v in curve.values[at : at + 2])
        goal = self.metric.loss(self.value)
        share = (one - goal) / (one - other) if math.isfinite(one) and one > other else 1.0
        return after + share * (until - after)


def steps_judge(goal: Goal, limit: int) -> Judge:
    """Steps to the goal; behind all that reach it, the others by how near they came."""

    def judge(readings: Sequence[Reading]) -> float:
        known = [score(r) for r in readings if r.standing is not Standing.BROKEN]
        return float(np.mean(known)) if known else math.nan

    def score(reading: Reading) -> float:
        steps = goal.steps(reading.record)
        if math.isfinite(steps):
            return steps
        curve = reading.curve(goal.metric.name)
        if curve is None or reading.standing is Standing.INFEASIBLE:
            return math.inf
        nearest = min(goal.metric.loss(float(value)) for value in curve.values)
        away = nearest - goal.metric.loss(goal.value)
        return limit * (2.0 + away / (1.0 + away)) if math.isfinite(away) else math.inf

    return judge
