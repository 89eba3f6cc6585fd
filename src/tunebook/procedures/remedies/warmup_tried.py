"""What came of lengths of warm-up that were tried, and what the one that cures brings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tunebook.core.evidence import Reading
from tunebook.procedures.remedies.comparing import Comparison


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one length of warm-up at a peak rate; `trouble` is None where nobody knows."""

    steps: int
    readings: tuple[Reading, ...]
    trouble: str | None

    @property
    def is_stable(self) -> bool:
        return self.trouble == ""


@dataclass(frozen=True, slots=True)
class Cure:
    """The shortest stable warm-up, at which peak rate, the best rate with it, what that brings.

    `at` is the rate that is unstable without one. Where nothing `is_seen` to be, it is only worse,
    and those of `tried` are called stable that are as good as the best rate. `steps` are those of
    the training after the warm-up, `own` the warm-up of the study itself. No rate above `highest`
    is known to work, and `trouble` is what is left at the best one.
    """

    at: float
    peak: float
    tried: tuple[Tried, ...]
    length: int
    rate: float
    without: float
    found: Comparison
    steps: int
    own: int
    highest: float = math.inf
    trouble: str = ""
    is_seen: bool = True

    @property
    def pays(self) -> bool:
        return self.found.is_better and not self.trouble
