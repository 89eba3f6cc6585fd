"""Which of many curves rise again after their minimum: screened all at once, confirmed one by one.

Training loss and validation error ask the same of their curves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tunebook.core.curves import Floats
from tunebook.diagnosis.combining import CLEAR
from tunebook.stats.monotone import Rise, rise_test, screen

# The clearest few of those screened are tested again with a finer null.
CONFIRMED = 3
# The least rise of a training loss that is of interest, as a share of its whole fall: less is a
# change of the mixture of data.
LEAST_RISE = 0.05
FINER_DRAWS = 1500


@dataclass(frozen=True, slots=True)
class RisingCurve:
    """What a curve does after its minimum, in its own terms: from `low`, at `step`, to `end`.

    `p` is that of a rise that matters: 1 where it is smaller than the least of interest.
    """

    number: int
    step: int
    low: float
    end: float
    rise: Rise
    p: float

    @property
    def is_clear(self) -> bool:
        return self.p <= CLEAR


def screened(
    curves: Mapping[int, tuple[Floats, Floats]], least: Mapping[int, float]
) -> dict[int, RisingCurve]:
    """The rise of every curve that is long enough, by trial, against the least of interest."""
    found = zip(curves, screen([values for _, values in curves.values()]), strict=True)
    known = {
        number: _described(number, *curves[number], rise, least[number])
        for number, rise in found
        if rise is not None
    }
    clear = sorted((c for c in known.values() if c.is_clear), key=lambda curve: curve.p)
    for curve in clear[:CONFIRMED]:
        finer = rise_test(curves[curve.number][1], draws=FINER_DRAWS)
        if finer is not None:
            known[curve.number] = replace(curve, p=finer.p)
    return known


def clear(curves: Mapping[int, RisingCurve]) -> list[RisingCurve]:
    """Those that clearly rise, the clearest first."""
    return sorted((c for c in curves.values() if c.is_clear), key=lambda curve: curve.p)


def without(curves: Mapping[int, RisingCurve], numbers: set[int]) -> dict[int, RisingCurve]:
    return {number: curve for number, curve in curves.items() if number not in numbers}


def fall(values: Floats) -> float:
    """From the beginning of a curve to its bottom, neither of which is a single point."""
    if not len(values):
        return 0.0
    part = max(1, len(values) // 20)
    return float(np.median(values[:part]) - np.quantile(values, 0.05))


def turned(curve: RisingCurve) -> RisingCurve:
    """The same of a metric of which higher is better: its values with their own sign."""
    return replace(curve, low=-curve.low, end=-curve.end)


def _described(number: int, steps: Floats, values: Floats, rise: Rise, least: float) -> RisingCurve:
    end = float(np.mean(values[-max(1, len(values) // 20) :]))
    p = rise.p if rise.rise >= least else 1.0
    return RisingCurve(number, int(steps[rise.minimum]), end - rise.rise, end, rise, p)
