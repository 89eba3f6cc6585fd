"""What the sweep and the short trainings showed, and what follows for the learning rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tunebook.core.evidence import Reading
from tunebook.core.objective import Metric
from tunebook.procedures.stability.courses import Course, together
from tunebook.procedures.sweeps import Sweep
from tunebook.stats.stability import Kind


class Limit(StrEnum):
    """What keeps the learning rate from being higher."""

    STABLE = "stable"
    EARLY = "early instability"
    SUDDEN = "sudden instability"
    ELSEWHERE = "limited elsewhere"


@dataclass(frozen=True, slots=True)
class Seen:
    """What the sweep and the short trainings showed.

    `courses` are the trainings by multiple of the best rate. `promise` is the chance that noise
    alone makes results promise more at twice the best rate. `worse` says that they are worse
    there, beyond noise.
    """

    sweep: Sweep
    best: float
    courses: Mapping[int, tuple[Course, ...]]
    results: Mapping[int, tuple[Reading, ...]]
    metric: Metric
    promise: float
    worse: bool

    def kind(self, multiple: int) -> Kind:
        return together(self.courses.get(multiple, ()))

    @property
    def limit(self) -> Limit:
        match self.kind(2):
            case Kind.EARLY:
                return Limit.EARLY
            case Kind.SUDDEN:
                return Limit.SUDDEN
            case _:
                return Limit.ELSEWHERE if self.worse else Limit.STABLE
