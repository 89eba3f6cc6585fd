"""When a trial has fitted its training set: which metric tells, at which level, by which step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from tunebook.core.domains import Value
from tunebook.core.evidence import Reading, Standing
from tunebook.diagnosis.signals import finite_points
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Judge
from tunebook.stats.curves import end_slope
from tunebook.stats.goal_steps import WINDOW, Reached, step_of_goal
from tunebook.training.knobs import LOOP_KNOBS

# The reference loop's error is that of so many of the examples that it learns from.
TASK_SAMPLE: Final = 2000
# At a constant rate single examples come and go: an error of one in a thousand is none.
NONE: Final = 1e-3
# A curve goes on falling when, at its present slope, as many steps again would take this share off.
STILL_FALLING: Final = 0.25
CLEARLY: Final = 0.05
# The steep end of a slope's interval is so many standard errors below it.
STEEP: Final = 2.0
# How a curve goes on.
Course: TypeAlias = Literal["falling", "level", "unclear"]


@dataclass(frozen=True, slots=True)
class Fit:
    """A training set is fitted when a metric is down to a level; `fix` has it logged.

    `smooth` tells that the metric is of batches, and must be averaged over some of them.
    """

    metric: str
    level: float
    fix: Mapping[str, Value]
    smooth: bool

    @property
    def words(self) -> str:
        """`train/error 0`, or `train/loss 0.01`."""
        return f"{self.metric} {self.level:g}"


def fit_of(subject: Subject, loss: float | None) -> Fit | None:
    """What tells that a training set is fitted; None where nothing does."""
    knobs = subject.knobs
    if loss is not None and knobs.train_loss is not None:
        return Fit(knobs.train_loss, loss, {}, smooth=True)
    if knobs.train_error is None:
        return None
    if subject.study.task is not None and knobs.train_error == LOOP_KNOBS.train_error:
        return Fit(knobs.train_error, 0.0, {"train_sample": TASK_SAMPLE}, smooth=False)
    return Fit(knobs.train_error, 0.0, {}, smooth=True)


def fitted(reading: Reading, fit: Fit) -> Reached | None:
    """Between which steps a trial fitted its training set; None where nothing was logged."""
    steps, values = finite_points(reading.curve(fit.metric))
    return step_of_goal(steps, values, fit.level or NONE, WINDOW if fit.smooth else 1)


def needed(fit: Fit, most: int) -> Judge:
    """The mean number of steps to fit the training set, for a sweep of trials of `most` steps.

    Trials that do not fit it come behind all that do, in the order of what they have left.
    """

    def judge(readings: Sequence[Reading]) -> float:
        if any(reading.standing is Standing.INFEASIBLE for reading in readings):
            return math.inf
        found = [_needed(reading, fit, most) for reading in readings]
        known = [steps for steps in found if steps is not None]
        return float(np.mean(known)) if known else math.nan

    return judge


def course(reading: Reading, fit: Fit, most: int) -> Course:
    """Whether more steps would bring the metric much further down.

    That no fall is clear does not make a curve level: noise hides a fall. It is level where even
    the steep end of its slope's interval would take little off.
    """
    slope = end_slope(*finite_points(reading.curve(fit.metric)))
    if slope is None:
        return "unclear"
    much = STILL_FALLING * left_over(reading, fit)
    if slope.falling <= CLEARLY and -slope.per_step * most >= much:
        return "falling"
    steep = slope.per_step - STEEP * slope.error
    return "level" if -steep * most < much else "unclear"


def left_over(reading: Reading, fit: Fit) -> float:
    """What is left of the metric above its level at the end, never below 0."""
    _, values = finite_points(reading.curve(fit.metric))
    late = values[-max(3, len(values) // 10) :]
    return max(float(np.median(late)) - fit.level, 0.0) if len(late) else math.inf


def _needed(reading: Reading, fit: Fit, most: int) -> float | None:
    if reading.standing is Standing.BROKEN:
        return None
    reached = fitted(reading, fit)
    if reached is None:
        return None
    if reached.reached:
        return reached.until
    left, whole = left_over(reading, fit), _mean_left(reading, fit)
    # Of those that end alike, the one that was there first.
    return most * (1.0 + left / (1.0 + left) + 1e-3 * whole / (1.0 + whole))


def _mean_left(reading: Reading, fit: Fit) -> float:
    """What is left of the metric above its level, on average over the training."""
    _, values = finite_points(reading.curve(fit.metric))
    return float(np.mean(np.clip(values - fit.level, 0.0, 1e9))) if len(values) else 1e9
