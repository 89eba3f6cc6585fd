"""Signs of unstable training: spikes of the loss, outlying gradients, blow-ups, values that end.

Curves are `steps (n,)` and `values (n,)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tunebook.stats.arrays import Bools, Floats, usable
from tunebook.stats.curves import running_median
from tunebook.stats.samples import median_absolute_deviation

_FEWEST = 20
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class Spike:
    """The loss leaps above what was usual before: by a factor, at its peak.

    `z` is the robust score of the leap in the log of the loss; `end` is the step at which the loss
    is back at its level, and None when it never is.
    """

    step: float
    factor: float
    z: float
    end: float | None

    @property
    def recovered(self) -> bool:
        return self.end is not None


@dataclass(frozen=True, slots=True)
class GradientNorms:
    """Gradient norms before any blow-up.

    `percentile_90` is a level for clipping, `median` the usual norm; `outliers` are the steps whose
    norm is above `ratio` running medians, `largest` the largest such multiple; `blow_up` is the
    step at which the norms leave for good, or None.
    """

    percentile_90: float
    median: float
    outliers: tuple[float, ...]
    largest: float
    blow_up: float | None
    ratio: float


def first_non_finite(steps: ArrayLike, values: ArrayLike) -> float | None:
    """The first step whose value is NaN or infinite, or None.

    >>> first_non_finite([10, 20, 30], [1.0, float("inf"), float("nan")])
    20.0
    """
    x, y = _pair(steps, values)
    bad = np.flatnonzero(~np.isfinite(y))
    return float(x[bad[0]]) if len(bad) else None


def blank_tail(values: ArrayLike) -> int:
    """The number of values at the end that are not finite: what a divergence leaves behind.

    >>> blank_tail([1.0, float("nan"), 2.0, float("nan"), float("inf")])
    2
    """
    finite = np.flatnonzero(np.isfinite(np.asarray(values, dtype=np.float64).ravel()))
    n = int(np.size(values))
    return n - 1 - int(finite[-1]) if len(finite) else n


def loss_spikes(
    steps: ArrayLike, losses: ArrayLike, z: float = 8.0, factor: float = 1.2
) -> tuple[Spike, ...]:
    """Where a loss leaps above its recent level, the first such step of each leap.

    The log of the loss is compared with the median of the values before it (a fiftieth of the
    curve, 9 at least), in units of the robust spread of such residuals nearby. A leap counts when
    its score is above `z` and the loss has grown by `factor`; it lasts until the loss is within
    half the leap of the level before. A loss of 0 or below gives no spike, nor do fewer than 20
    finite values.
    """
    x, y = _pair(steps, losses)
    good = usable(y)
    x, y = x[good], y[good]
    if len(y) < _FEWEST or np.any(y <= _SMALLEST):
        return ()
    log = np.log(y)
    window = max(9, len(log) // 50)
    level = _trailing_median(log, window)
    residual = log - level
    score = residual / _local_spread(residual, window)
    suspects = np.flatnonzero((score > z) & (residual > math.log(factor)))
    spikes: list[Spike] = []
    after = 0
    for start in suspects.tolist():
        if start < after:
            continue
        threshold = level[start] + 0.5 * residual[start]
        back = np.flatnonzero(log[start:] < threshold)
        end = start + int(back[0]) if len(back) else len(log)
        height = float(np.max(log[start:end]) - level[start])
        spikes.append(
            Spike(
                float(x[start]),
                math.exp(height),
                float(score[start]),
                float(x[end]) if end < len(log) else None,
            )
        )
        after = end
    return tuple(spikes)


def gradient_norms(
    steps: ArrayLike, norms: ArrayLike, ratio: float = 5.0, blow_up: float = 10.0
) -> GradientNorms | None:
    """Usual and outlying gradient norms, and where they blow up.

    A blow-up begins at the first step from which the running median stays above `blow_up` times
    the lowest level it had before, or at the first norm that is not finite. Percentiles and
    outliers are those before it. None for fewer than 20 norms before it.
    """
    x, y = _pair(steps, norms)
    start = _blow_up(y, blow_up)
    before = y[:start]
    if len(before) < _FEWEST:
        return None
    median = running_median(before, 2 * max(10, len(before) // 50) + 1)
    multiple = before / np.maximum(median, _SMALLEST)
    outlying: Bools = multiple > ratio
    return GradientNorms(
        float(np.quantile(before, 0.9)),
        float(np.median(before)),
        tuple(x[:start][outlying].tolist()),
        float(multiple.max()),
        float(x[start]) if start < len(y) else None,
        ratio,
    )


def _blow_up(norms: Floats, factor: float) -> int:
    """The index at which norms leave for good; their number when they do not."""
    bad = np.flatnonzero(~usable(norms))
    end = int(bad[0]) if len(bad) else len(norms)
    if end < _FEWEST:
        return end
    smooth = running_median(norms[:end], 9)
    lowest = np.minimum.accumulate(smooth)
    calm = np.flatnonzero(smooth <= factor * np.maximum(lowest, _SMALLEST))
    return int(calm[-1]) + 1


def _trailing_median(values: Floats, window: int) -> Floats:
    """The median of the `window` values before each; of the first values for the first ones."""
    padded = np.concatenate([np.full(window, np.median(values[:window])), values])
    views = np.lib.stride_tricks.sliding_window_view(padded, window)[: len(values)]
    return np.asarray(np.median(views, axis=1))


def _local_spread(residual: Floats, window: int) -> Floats:
    """A robust spread around each value, never below a fraction of that of the whole curve."""
    whole = median_absolute_deviation(residual) or _SMALLEST
    near = 1.4826 * running_median(np.abs(residual), 4 * window + 1)
    return np.maximum(near, max(0.3 * whole, _SMALLEST))


def _pair(steps: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    x = np.asarray(steps, dtype=np.float64).ravel()
    y = np.asarray(values, dtype=np.float64).ravel()
    if x.shape != y.shape:
        raise ValueError(f"each value needs a step, got {len(x)} steps and {len(y)} values")
    return x, y
