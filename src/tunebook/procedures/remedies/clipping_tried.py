"""What came of thresholds that were tried, and what the one that cures brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.evidence import Reading
from tunebook.procedures.remedies.comparing import Comparison

# Where more of the updates are clipped, it is the learning rate that is too high.
MOST_CLIPPED: Final = 0.5


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one threshold at the unstable rate.

    `trouble` is None where nobody knows, `clipped` where norms were logged after clipping.
    """

    threshold: float
    readings: tuple[Reading, ...]
    trouble: str | None
    clipped: float | None

    @property
    def cures(self) -> bool:
        return self.trouble == "" and (self.clipped is None or self.clipped <= MOST_CLIPPED)


@dataclass(frozen=True, slots=True)
class Cure:
    """The threshold, the best rate with it, and what that brings beside the study's own."""

    tried: tuple[Tried, ...]
    chosen: Tried
    rate: float
    without: float
    found: Comparison
    own: Value
