"""Examples per second against the batch size: what a step costs, and where doubling stops paying.

A size comes with the times of its steps after warm-up, as `StepTimes`.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.optimize import nnls

from tunebook.stats.samples import Interval
from tunebook.stats.step_times import StepTimes

FEWEST_SIZES = 3
# Until the device is full, doubling the batch should nearly double the throughput: at least this.
NEARLY_DOUBLE = 0.5
# A doubling that brings less than this is not worth its memory: throughput has stopped rising.
STOPPED = 0.1
# What repeated measurements of one size differ by on a quiet machine, beyond the noise of steps.
DRIFT = 0.01
# A step time off the line by more than this share is a kink, if it is not noise.
KINK = 0.1
_LEVEL = 0.05


class Doubling(enum.StrEnum):
    """What doubling the batch brings to throughput."""

    NEARLY_DOUBLE = "nearly double"
    LESS = "less than nearly double"
    STOPPED = "stopped"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Gain:
    """The share by which throughput grows for each doubling between two neighbouring sizes."""

    smaller: float
    larger: float
    per_doubling: Interval
    verdict: Doubling


@dataclass(frozen=True, slots=True)
class Saturation:
    """The gains between neighbouring sizes, in their order, and where they end.

    `stops_at` is the smallest size from which a larger one brings no more; None where no tested
    size is shown to be such.
    """

    gains: tuple[Gain, ...]
    stops_at: float | None


@dataclass(frozen=True, eq=False, slots=True)
class AffineTime:
    """A step takes fixed + per_example x size.

    `misfit` is the p-value that the line does not fit, against the noise of the medians; `largest`
    the largest relative distance of a median from it, which is at the size `at`.
    """

    fixed: Interval
    per_example: Interval
    misfit: float
    largest: float
    at: float

    @property
    def fits(self) -> bool:
        """Whether no time is off the line by a tenth and more than noise explains."""
        return not (self.misfit <= _LEVEL and self.largest > KINK)

    def seconds(self, size: float) -> float:
        return self.fixed.estimate + self.per_example.estimate * size

    def throughput(self, size: float) -> float:
        return size / self.seconds(size)


def affine_time(
    measured: Mapping[float, StepTimes], confidence: float = 0.95, drift: float = DRIFT
) -> AffineTime | None:
    """A line through the times per step, neither end of which is below 0; None below 3 sizes.

    Errors are relative, so each size weighs by the inverse square of its time; what scatters more
    weighs less. Intervals are Student's, with the scatter about the line or the noise of the
    medians, whichever is larger.
    """
    sizes = np.array(sorted(measured))
    if len(sizes) < FEWEST_SIZES:
        return None
    seconds = np.array([measured[size].median.estimate for size in sizes])
    errors = np.array([math.hypot(measured[size].log_error, drift) for size in sizes])
    basis = np.column_stack([np.ones(len(sizes)), sizes]) / (seconds * errors)[:, None]
    scale = np.linalg.norm(basis, axis=0)
    found, length = nnls(basis / scale, 1.0 / errors)
    coefficients = found / scale
    freedom = len(sizes) - 2
    variance = max(length**2 / freedom, 1.0)
    inverse = np.linalg.inv((basis / scale).T @ (basis / scale)) / np.outer(scale, scale)
    half = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * np.sqrt(
        variance * np.diag(inverse)
    )
    off = (coefficients[0] + coefficients[1] * sizes) / seconds - 1.0
    worst = int(np.argmax(np.abs(off)))
    fixed, per_example = (
        Interval(float(c), max(float(c - h), 0.0), float(c + h))
        for c, h in zip(coefficients, half, strict=True)
    )
    return AffineTime(
        fixed,
        per_example,
        float(special.chdtrc(freedom, length**2)),
        float(np.abs(off[worst])),
        float(sizes[worst]),
    )


def saturation(
    measured: Mapping[float, StepTimes], level: float = _LEVEL, drift: float = DRIFT
) -> Saturation:
    """Where throughput stops doubling, and rising.

    The gain between two neighbouring sizes has an interval from the errors of their medians; a
    verdict needs all of it on one side, with `level` shared among all pairs. Throughput stops at a
    size when the next brings less than a tenth for each doubling, and no later one clearly more
    than a tenth in all.
    """
    sizes = sorted(measured)
    pairs = max(len(sizes) - 1, 1)
    quantile = -float(special.ndtri(level / pairs))
    errors = [math.hypot(measured[size].log_error, drift) for size in sizes]
    speeds = [math.log(size / measured[size].median.estimate) for size in sizes]

    def gain(i: int, j: int, each: bool) -> Interval:
        doublings = math.log2(sizes[j] / sizes[i]) if each else 1.0
        middle, half = speeds[j] - speeds[i], quantile * math.hypot(errors[i], errors[j])
        return Interval(*(math.expm1((middle + h) / doublings) for h in (0.0, -half, half)))

    gains = []
    for i in range(len(sizes) - 1):
        own = gain(i, i + 1, True)
        gains.append(Gain(sizes[i], sizes[i + 1], own, _verdict(own)))
    stop = (
        g.smaller
        for i, g in enumerate(gains)
        if g.verdict is Doubling.STOPPED
        and not any(gain(i, j, False).low > STOPPED for j in range(i + 2, len(sizes)))
    )
    return Saturation(tuple(gains), next(stop, None))


def _verdict(gain: Interval) -> Doubling:
    if gain.high < STOPPED:
        return Doubling.STOPPED
    if gain.high < NEARLY_DOUBLE:
        return Doubling.LESS
    return Doubling.NEARLY_DOUBLE if gain.low >= NEARLY_DOUBLE else Doubling.UNCLEAR
