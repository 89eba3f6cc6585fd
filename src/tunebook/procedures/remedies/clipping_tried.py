"""What came of thresholds that were tried, and what the one that cures brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.evidence import Reading
from tunebook.procedures.remedies.comparing import Comparison
from tunebook.procedures.remedies.edge import Edge
from tunebook.stats.shares import fewer_p

# Where more of the updates are clipped, it is the learning rate that is too high.
MOST_CLIPPED: Final = 0.5


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one threshold at the unstable rate.

    `trouble` is None where nobody knows, `clipped` where norms were logged after clipping. It is
    `calmer` where the loss rises clearly less than without: a clipped outlier is an outlier still.
    """

    threshold: float
    readings: tuple[Reading, ...]
    trouble: str | None
    clipped: float | None
    calmer: bool = False

    @property
    def cures(self) -> bool:
        return self.trouble == "" and not is_too_much(self.clipped)

    @property
    def helps(self) -> bool:
        """It cures, or leaves clearly less of the trouble."""
        return self.cures or (bool(self.trouble) and self.calmer and not is_too_much(self.clipped))


@dataclass(frozen=True, slots=True)
class Courses:
    """Of so many trainings over fresh seeds, how many are about as unstable as was seen before."""

    unstable: int
    trainings: int


@dataclass(frozen=True, slots=True)
class Cure:
    """The threshold, the best rate with it, and what that brings beside the study's own.

    `at` is the unstable rate at which thresholds were tried: it `is_best` where training is
    unstable at the best rate itself, and is only worse where no instability `is_seen`. Of the
    trainings that are compared, `clipped` is the share of updates, and `before` and `after` are how
    they go. No rate above `highest` is known to work.
    """

    tried: tuple[Tried, ...]
    chosen: Tried
    at: float
    is_best: bool
    rate: float
    without: float
    highest: float
    found: Comparison
    own: Value
    clipped: float | None
    before: Courses
    after: Courses
    is_seen: bool = True

    @property
    def is_too_much(self) -> bool:
        """Whether clipping at the rate that it is compared with does what a lower rate should."""
        return is_too_much(self.clipped)

    @property
    def steadier_p(self) -> float:
        """The chance that so many more trainings at the best rate were unstable before, by luck.

        Spikes that come back spoil only the few trainings that end in one: means and ranks of
        results hardly see that, and the courses of the same trainings do. It is 1 where training
        was not unstable on most seeds.
        """
        before, after = self.before, self.after
        if not self.is_best or 2 * before.unstable <= before.trainings:
            return 1.0
        return fewer_p(after.unstable, after.trainings, before.unstable, before.trainings)

    @property
    def pays(self) -> bool:
        """Better results, or as good ones of steadier trainings; and few updates are clipped."""
        steadier = self.steadier_p <= self.found.level and self.found.is_as_good
        return not self.is_too_much and (self.found.is_better or steadier)


def best_of(tried: Sequence[Tried]) -> Tried | None:
    """The first threshold that cures; else the smallest that leaves clearly less of the trouble."""
    cured = next((one for one in tried if one.cures), None)
    return cured or next((one for one in reversed(tried) if one.helps), None)


def best_of_good(edge: Edge, at: float, tried: Sequence[Tried]) -> Tried | None:
    """The first with which a rate that is worse without is worth tuning."""
    good = (one for one in tried if edge.is_worth_tuning(one.readings, at))
    return next((one for one in good if one.cures), None)


def is_too_much(clipped: float | None) -> bool:
    return clipped is not None and clipped > MOST_CLIPPED
