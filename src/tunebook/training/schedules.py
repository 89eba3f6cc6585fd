"""Learning-rate schedules: pure functions of the step, with warmup in front of the body.

Warmup is *prepended*: 10,000 steps with 1,000 of warmup make 11,000.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from tunebook.core.errors import StudyError, did_you_mean

Shape: TypeAlias = Literal["constant", "linear", "polynomial", "cosine", "inverse_sqrt", "wsd"]

SHAPES: tuple[Shape, ...] = get_args(Shape)
# A rate below this share of the base rate teaches next to nothing.
TINY = 0.01
# Where no length is given: the decaying share of warmup-stable-decay, and the time scale of an
# inverse square root without warmup.
_SHORT = 0.1


@dataclass(frozen=True, slots=True)
class Schedule:
    """A base rate, the steps of the body, and the shape of the body.

    `decay` is the length of the decaying part, at the end of the body; for an inverse square root
    it is the time scale. `floor` is the share of the base rate at which a decay ends, and `power`
    bends a polynomial.
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
        for name, allowed, wanted in (
            ("base", 0 < self.base < math.inf, "above 0 and finite"),
            ("steps", self.steps >= 1, "at least 1"),
            ("warmup", self.warmup >= 0, "at least 0"),
            ("decay", self.decay is None or self.decay >= 1, "at least 1"),
            ("floor", 0 <= self.floor <= 1, "from 0 to 1"),
            ("power", 0 < self.power < math.inf, "above 0 and finite"),
        ):
            if not allowed:
                raise StudyError(f"a schedule's {name} must be {wanted}, got {getattr(self, name)}")

    @property
    def total(self) -> int:
        """All steps: those of the body and the warmup in front of it."""
        return self.warmup + self.steps

    @property
    def decay_steps(self) -> int:
        """The length of the decaying part of the body, or the scale of an inverse square root."""
        short = max(round(self.steps * _SHORT), 1)
        match self.shape:
            case "constant":
                return 0
            case "inverse_sqrt":
                return self.decay or self.warmup or short
            case "wsd":
                return min(self.decay or short, self.steps)
        return min(self.decay or self.steps, self.steps)


def rate(schedule: Schedule, step: int) -> float:
    """The learning rate at a step, counted from 0.

    >>> plan = Schedule(base=1.0, steps=10, shape="linear", warmup=2)
    >>> [round(rate(plan, step), 2) for step in range(plan.total)]
    [0.5, 1.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    """
    if step < schedule.warmup:
        return schedule.base * ((step + 1) / schedule.warmup)
    return schedule.base * _factor(schedule, step - schedule.warmup)


def replan(schedule: Schedule, steps: int) -> Schedule:
    """The schedule for a run with another number of body steps.

    A decay keeps its length, and the constant part in front of it takes up the change; a cosine
    over the whole body keeps its base rate and is stretched. Warmup stays as it is.

    >>> longer = replan(Schedule(base=1.0, steps=100, shape="linear", decay=50), 1000)
    >>> rate(longer, 949), round(rate(longer, 975), 2)
    (1.0, 0.5)
    """
    if schedule.shape in ("constant", "cosine"):
        return replace(schedule, steps=steps)
    return replace(schedule, steps=steps, decay=schedule.decay or schedule.decay_steps)


def tiny_steps(schedule: Schedule, tiny: float = TINY) -> int:
    """How many steps of the body run below a small share of the base rate."""
    # Rates never rise in the body, so that the tiny ones are its last.
    first = bisect_left(
        range(schedule.steps), True, key=lambda step: _factor(schedule, step) < tiny
    )
    return schedule.steps - first


def tiny_share_of_extra(before: Schedule, after: Schedule, tiny: float = TINY) -> float:
    """Of the steps that a longer plan adds, the share spent at tiny rates: they are wasted.

    >>> plan = Schedule(base=0.1, steps=1000, shape="linear")
    >>> tiny_share_of_extra(plan, replan(plan, 10_000))
    0.0
    >>> plan = Schedule(base=0.1, steps=1000, shape="cosine")
    >>> round(tiny_share_of_extra(plan, replan(plan, 10_000)), 3)
    0.064
    """
    extra = after.steps - before.steps
    if extra < 1:
        raise StudyError(
            f"the second plan must be the longer one, got {before.steps} and {after.steps} steps"
        )
    return max(tiny_steps(after, tiny) - tiny_steps(before, tiny), 0) / extra


def _factor(schedule: Schedule, step: int) -> float:
    """The share of the base rate at a step of the body."""
    return schedule.floor + (1 - schedule.floor) * _height(schedule, step)


def _height(schedule: Schedule, step: int) -> float:
    """How high above its floor the rate stands: from 1 down to 0."""
    if schedule.shape == "constant":
        return 1.0
    decay = schedule.decay_steps
    if schedule.shape == "inverse_sqrt":
        return math.sqrt(decay / (decay + step))
    left = min(max((schedule.steps - step) / decay, 0.0), 1.0)
    match schedule.shape:
        case "cosine":
            # (1 + cos x) / 2, written so that it does not cancel to 0 near the end.
            return math.sin(left * math.pi / 2) ** 2
        case "polynomial":
            return float(left**schedule.power)
    return left
