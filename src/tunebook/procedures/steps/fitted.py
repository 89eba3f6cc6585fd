"""What a sweep says of the steps in which the training set is fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tunebook.core.evidence import Reading, Standing
from tunebook.procedures.steps.fitting import Course, Fit, course, fitted, left_over
from tunebook.procedures.sweeps import Sweep
from tunebook.stats.goal_steps import Reached


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a sweep of `most` steps says: between which steps the fastest rate fits its data."""

    sweep: Sweep
    fit: Fit
    most: int

    @property
    def best(self) -> tuple[Reading, ...]:
        """The trials at the best rate, but those that broke: they say nothing of their rate."""
        return tuple(r for r in self._at_best if r.standing is not Standing.BROKEN)

    @property
    def broken(self) -> tuple[int, int]:
        """How many trials at the best rate broke, and of how many."""
        return len(self._at_best) - len(self.best), len(self._at_best)

    @property
    def interval(self) -> tuple[float, float] | None:
        """From the fewest to the most steps that a trial at the best rate may have needed."""
        reached = self._reached
        if not reached or not all(one.reached for one in reached):
            return None
        return min(one.after for one in reached), max(one.until for one in reached)

    @property
    def fitting(self) -> tuple[int, int]:
        """How many trials at the best rate fit their data, and of how many that is known."""
        return sum(one.reached for one in self._reached), len(self._reached)

    @property
    def leads(self) -> str:
        """What the best rate is: the fastest, or the lowest where none of its trials fits."""
        return "fastest" if self.fitting[0] else "lowest"

    @property
    def course(self) -> Course:
        """How the best rate goes on: falling where one trial falls, level where all are."""
        found = {course(reading, self.fit, self.most) for reading in self.best}
        if "falling" in found:
            return "falling"
        return "level" if found == {"level"} else "unclear"

    @property
    def left(self) -> float:
        """What is left of the metric at the best rate, by the trial that has most left."""
        return max((left_over(r, self.fit) for r in self.best), default=math.inf)

    @property
    def _at_best(self) -> tuple[Reading, ...]:
        return () if self.sweep.best is None else self.sweep.readings[self.sweep.best]

    @property
    def _reached(self) -> tuple[Reached, ...]:
        found = (fitted(reading, self.fit) for reading in self.best)
        return tuple(one for one in found if one is not None)
