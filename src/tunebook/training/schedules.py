"""Learning-rate schedules: pure functions of the step, with warmup in front of the body.

Warmup is *prepended*: 10,000 steps with 1,000 of warmup make 11,000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from tunebook.core.errors import StudyError, did_you_mean

Shape: TypeAlias = Literal["constant", "linear", "polynomial", "cosine", "inverse_sqrt", "wsd"]

SHAPES: tuple[str, ...] = get_args(Shape)
# Of a warmup-stable-decay schedule, the share that decays unless its length is given.
_DECAYING_SHARE = 0.1
TINY = 0.01


@dataclass(frozen=True, slots=True)
class Schedule:
    """A base rate, the steps of the body, and the shape of the body.

    `decay` is the length of the decaying part of linear, polynomial and warmup-stable-decay
    schedules, and the time scale of an inverse square root; `floor` is the share of the base rate
    at which a decay ends.
    """

    base: float
    steps: int
    shape: Shape = "constant"
    warmup: int = 0
    decay: int | None = None
    floor: float = 0.0
    power: float = 1.0

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            near = did_you_mean(str(self.shape), SHAPES)
            raise StudyError(
                f"no schedule is named {self.shape!r}{near}; there are {', '.join(SHAPES)}"
            )
        for name, least in (("steps", 1), ("warmup", 0)):
            if getattr(self, name) < least:
                raise StudyError(
                    f"a schedule needs {name} >= {least}, got {name}={getattr(self, name)}"
                )
        if self.decay is not None and self.decay < 1:
            raise StudyError(f"a schedule needs decay >= 1, got decay={self.decay}")

    @property
    def total(self) -> int:
        """All steps: those of the body and the warmup in front of it."""
        return self.warmup + self.steps

    @property
    def decay_steps(self) -> int:
        """The length of the decaying part of the body."""
        if self.shape == "constant":
            return 0
        if self.decay is not None:
            return min(self.decay, self.steps)
        if self.shape == "wsd":
            return max(round(self.steps * _DECAYING_SHARE), 1)
        return self.steps


def rate(schedule: Schedule, step: int) -> float:
    """The learning rate at a step, counted from 0.

    >>> plan = Schedule(base=1.0, steps=10, shape="linear", warmup=2)
    >>> [round(rate(plan, step), 2) for step in range(plan.total)]
    [0.5, 1.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    """
    if step < schedule.warmup:
        return schedule.base * (step + 1) / schedule.warmup
    return schedule.base * _factor(schedule, step - schedule.warmup)


def replan(schedule: Schedule, steps: int) -> Schedule:
    """The schedule for a run with another number of body steps.

    What decays over a fixed length keeps that length, and the constant part takes up the change;
    cosine keeps its base rate and is stretched. Warmup stays as it is.

    >>> longer = replan(Schedule(base=1.0, steps=100, shape="linear", decay=50), 1000)
    >>> rate(longer, 949), round(rate(longer, 975), 2)
    (1.0, 0.5)
    """
    if schedule.shape in ("linear", "polynomial", "wsd"):
        return replace(schedule, steps=steps, decay=min(schedule.decay_steps, steps))
    return replace(schedule, steps=steps)


def share_at_tiny_rates(schedule: Schedule, tiny: float = TINY) -> float:
    """The share of the body's steps that run below a small part of the base rate: wasted ones."""
    factors = (_factor(schedule, step) for step in range(schedule.steps))
    return sum(factor < tiny for factor in factors) / schedule.steps


def _factor(schedule: Schedule, step: int) -> float:
    """The share of the base rate at a step of the body."""
    match schedule.shape:
        case "constant":
            return 1.0
        case "cosine":
            return _between(schedule.floor, (1 + math.cos(math.pi * step / schedule.steps)) / 2)
        case "inverse_sqrt":
            scale = schedule.decay or max(schedule.warmup, 1)
            return math.sqrt(scale / (scale + step))
    decay = schedule.decay_steps
    left = min(max((schedule.steps - step) / decay, 0.0), 1.0)
    power = schedule.power if schedule.shape == "polynomial" else 1.0
    return _between(schedule.floor, left**power)


def _between(floor: float, share: float) -> float:
    return floor + (1 - floor) * share
