"""Steps to a goal at several batch sizes: S = S_min (1 + B_crit / B), and what follows from it.

Far below the critical size B_crit steps halve when the batch doubles (perfect scaling); far above
it they stay at S_min. After McCandlish et al., "An Empirical Model of Large-Batch Training", 2018.
Observations are `sizes (n,)` with the steps between which the goal was reached, `after (n,)` and
`until (n,)`: the last evaluation that missed it and the first that met it. Equal ones are exact;
`until` is +inf where the goal was not reached. Several observations of a size are its seeds.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tunebook.stats.arrays import Bools, Floats, Ints
from tunebook.stats.censored import Bounds
from tunebook.stats.samples import Interval

FEWEST_SIZES = 3
# Critical sizes are looked for this far (as a factor) beyond the tested ones; further on the curve
# is one of the two limits.
_BEYOND = 1000.0
_PLACES = 61
_BISECTIONS = 11
# Within this share of a limit the curve is called that limit: doubling the batch then divides the
# steps by 1.7 at least (perfect scaling), or by less than 1.1 (no gain).
SLACK = 0.2
_MISFIT = 0.05


class Scaling(enum.StrEnum):
    """What the tested sizes show: both limits, or one of them, or neither."""

    BOTH = "both"
    PERFECT = "perfect"
    DIMINISHING = "diminishing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NoFit:
    """Why no curve was fitted."""

    reason: str


@dataclass(frozen=True, slots=True)
class BestSize:
    """The candidate with the lowest total, those that are lowest somewhere in the interval, and
    the totals `(m,)` of all candidates in their order."""

    size: float
    possible: tuple[float, ...]
    totals: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class BatchScaling:
    """A fitted curve with its 95% region.

    `critical` and `fewest_steps` (S_min) have an end at 0 or +inf where the data bound one side
    only; `critical.estimate` itself is 0 or +inf when a limit fits best. `sd` is the noise of
    log S; `misfit` the p-value that the form does not fit, from seeds, or None without them.
    `places (m,)` are the critical sizes of the region, 0 and +inf among them where they belong,
    with the ends of log S at `reference` for each, `low (m,)` and `high (m,)`.
    """

    critical: Interval
    fewest_steps: Interval
    sd: float
    misfit: float | None
    sizes: tuple[float, ...]
    observations: int
    reference: float
    level: float
    places: Floats
    low: Floats
    high: Floats

    @property
    def scaling(self) -> Scaling:
        open_below, open_above = self.critical.low == 0.0, math.isinf(self.critical.high)
        if open_below and open_above:
            return Scaling.UNKNOWN
        if open_above:
            return Scaling.PERFECT
        return Scaling.DIMINISHING if open_below else Scaling.BOTH

    def steps_at(self, size: float) -> Interval:
        """The median number of steps to the goal at a batch size."""
        offsets = _offsets(self.places, np.array([size]), self.reference)[:, 0]
        own = _offsets(np.array([self.critical.estimate]), np.array([size]), self.reference)[0, 0]
        return Interval(
            math.exp(self.level + own),
            math.exp(float(np.min(self.low + offsets))),
            math.exp(float(np.max(self.high + offsets))),
        )

    def cheapest(self, per_step: Callable[[float], float], sizes: Sequence[float]) -> BestSize:
        """The size with the lowest total of steps times `per_step(size)`.

        Seconds per step give the size that minimises training time, device-seconds or money per
        step the one that minimises cost, and the size itself the one that needs fewest examples.
        """
        if not sizes:
            raise ValueError("the cheapest size needs candidates, got none")
        candidates = np.array(sizes, dtype=np.float64)
        prices = np.log([per_step(size) for size in sizes])
        own = _offsets(np.array([self.critical.estimate]), candidates, self.reference)[0] + prices
        all_places = _offsets(self.places, candidates, self.reference) + prices
        lowest = np.isclose(all_places, all_places.min(axis=1, keepdims=True), rtol=0.0, atol=1e-9)
        return BestSize(
            float(candidates[np.argmin(own)]),
            tuple(candidates[lowest.any(axis=0)].tolist()),
            tuple(np.exp(self.level + own).tolist()),
        )

    @property
    def perfect_until(self) -> Interval:
        """The size up to which steps are within 20% of perfect scaling."""
        return _each(self.critical, lambda b: SLACK * b)

    @property
    def no_gain_from(self) -> Interval:
        """The size from which steps are within 20% of the fewest."""
        return _each(self.critical, lambda b: b / SLACK)


def batch_scaling(
    sizes: ArrayLike, after: ArrayLike, until: ArrayLike, confidence: float = 0.95
) -> BatchScaling | NoFit:
    """The curve of largest likelihood, with intervals by profile likelihood.

    log S has normal noise of one sd. The cut of the likelihood is that of the t-test it is for
    exact observations, with the degrees of freedom that are left; where seeds show that sizes
    scatter about the curve by more than their noise (`misfit` at most 0.05), sizes and not runs
    count, and the cut is wider by that much.
    """
    b, low, high = _observations(sizes, after, until)
    reached = np.isfinite(high)
    tested = np.unique(b[reached])
    if len(tested) < FEWEST_SIZES:
        return NoFit(
            f"the goal was reached at {len(tested)} batch sizes; a curve needs {FEWEST_SIZES}"
        )
    bounds = Bounds(low, high)
    reference = float(np.exp(np.log(b).mean()))
    places = np.concatenate(
        [[0.0], np.geomspace(b.min() / _BEYOND, b.max() * _BEYOND, _PLACES), [np.inf]]
    )
    places = _finer(bounds, b, reference, places)
    offsets = _offsets(places, b, reference)
    fit = bounds.fit(offsets)
    best = int(np.argmax(fit.likelihood))
    runs = int(reached.sum())
    misfit, cut = _cut(bounds, b, reached, float(fit.likelihood[best]), runs, confidence)
    floor = float(fit.likelihood[best]) - cut / 2.0
    kept = np.flatnonzero(fit.likelihood >= floor)
    inside = places[kept]
    ends = [
        _end(bounds, offsets[kept], fit.level[kept], fit.sd[kept], floor, side)
        for side in (-1.0, 1.0)
    ]
    estimate, level = float(places[best]), float(fit.level[best])
    critical = Interval(estimate, float(inside.min()), float(inside.max()))
    return BatchScaling(
        critical,
        _fewest_steps(inside, ends, estimate, level, reference),
        float(fit.sd[best]),
        misfit,
        tuple(np.unique(b).tolist()),
        len(b),
        reference,
        level,
        inside,
        ends[0],
        ends[1],
    )


def _observations(
    sizes: ArrayLike, after: ArrayLike, until: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Sizes and the logs of the bounds; a goal met at the first evaluation has no lower bound."""
    b, low, high = (np.asarray(x, dtype=np.float64).ravel() for x in (sizes, after, until))
    if not len(b) == len(low) == len(high):
        raise ValueError(
            f"each size needs its bounds, got {len(b)} sizes and {len(low)} and {len(high)} bounds"
        )
    if np.any(~(b > 0.0) | ~np.isfinite(b)):
        raise ValueError(f"batch sizes must be above 0, got {b.tolist()}")
    if np.any(~(low >= 0.0) | ~np.isfinite(low) | ~(high >= np.maximum(low, 1e-300))):
        raise ValueError("steps must be at least 0, and no goal is reached before it was missed")
    # Half a step stands for none: the log needs a bound, and no goal is reached before one step.
    return b, np.log(np.maximum(low, np.minimum(0.5, high / 2.0))), np.log(high)


def _offsets(places: Floats, sizes: Floats, reference: float) -> Floats:
    """log S(B) - log S(reference), `(m, n)` for m critical sizes; the limits are exact."""
    c = places[:, None]
    with np.errstate(invalid="ignore"):
        curve = np.log1p(c / sizes) - np.log1p(c / reference)
    perfect = np.log(reference / sizes)[None, :]
    return np.where(np.isinf(c), perfect, curve)


def _finer(bounds: Bounds, sizes: Floats, reference: float, places: Floats) -> Floats:
    """Places with more of them where the likelihood is within reach of the largest."""
    likelihood = bounds.fit(_offsets(places, sizes, reference)).likelihood
    near = np.flatnonzero(likelihood >= likelihood.max() - 8.0)
    first, last = max(int(near[0]) - 1, 1), min(int(near[-1]) + 1, len(places) - 2)
    inner = np.geomspace(places[first], places[max(last, first + 1)], _PLACES)
    return np.unique(np.concatenate([places, inner]))


def _cut(
    bounds: Bounds, sizes: Floats, reached: Bools, best: float, runs: int, confidence: float
) -> tuple[float | None, float]:
    """The p-value of a misfit, and how far twice the log-likelihood may fall.

    For exact observations twice its fall is runs log(1 + t^2 / freedom), with Student's t.
    """
    freedom = max(runs - 2, 1)
    square = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) ** 2
    tested = np.unique(sizes[reached])
    between, within = len(tested) - 2, runs - len(tested)
    misfit = None
    if within > 0:
        ratio = _lack_of_fit(bounds, sizes, best, runs) * within / between
        misfit = float(special.fdtrc(between, within, ratio))
        if misfit <= _MISFIT:
            quantile = float(special.stdtrit(between, (1.0 + confidence) / 2.0))
            # The noise that the fit holds is that of both, and is `pooled` of that within sizes.
            pooled = (within + between * ratio) / freedom
            square = max(square, quantile**2 * ratio / pooled)
    return misfit, runs * math.log1p(square / freedom)


def _lack_of_fit(bounds: Bounds, sizes: Floats, best: float, runs: int) -> float:
    """By what share squares about the curve exceed those about a level for each size.

    The levels come from turns of fitting one offset for each size, with a common sd.
    """
    groups = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    offsets = np.zeros((1, len(sizes)))
    likelihood = -math.inf
    for _ in range(60):
        fit = bounds.fit(offsets)
        if fit.likelihood[0] - likelihood < 1e-6:
            break
        likelihood = float(fit.likelihood[0])
        for own in groups:
            offsets[0, own] += _shift(bounds, own, offsets[0, own] + fit.level[0], fit.sd[0])
    return math.expm1(max(2.0 * (likelihood - best) / runs, 0.0))


def _shift(bounds: Bounds, own: Ints, means: Floats, sd: float) -> float:
    """How far the expected values of some observations lie above their means."""
    u, v = (bounds.low[own] - means) / sd, (bounds.high[own] - means) / sd
    exact = bounds.exact[own]
    with np.errstate(invalid="ignore", divide="ignore"):
        mass = special.ndtr(v) - special.ndtr(u)
        expected = (np.exp(-0.5 * u * u) - np.exp(-0.5 * v * v)) / math.sqrt(2 * math.pi) / mass
    expected = np.where(mass > 1e-12, expected, np.where(u > 0.0, u, v))
    return float(np.mean(sd * np.where(exact, u, expected)))


def _end(
    bounds: Bounds, offsets: Floats, level: Floats, sd: Floats, floor: float, side: float
) -> Floats:
    """The level on one side at which the likelihood, over the sd, falls to the floor."""
    far = 4.0 * sd
    for _ in range(40):
        outside = bounds.fit_sd(offsets + (level + side * far)[:, None], sd).likelihood < floor
        if outside.all():
            break
        far = np.where(outside, far, 2.0 * far)
    near = np.zeros(len(level))
    for _ in range(_BISECTIONS):
        middle = (near + far) / 2.0
        found = bounds.fit_sd(offsets + (level + side * middle)[:, None], sd)
        # The sd found is where the next search begins.
        outside, sd = found.likelihood < floor, found.sd
        near, far = np.where(outside, near, middle), np.where(outside, middle, far)
    return np.asarray(level + side * far)


def _fewest_steps(
    places: Floats, ends: Sequence[Floats], estimate: float, level: float, reference: float
) -> Interval:
    """S_min over the region; 0 where perfect scaling without end belongs to it."""
    shares = -np.log1p(places / reference)
    own = -math.log1p(estimate / reference)
    low, high = float(np.min(ends[0] + shares)), float(np.max(ends[1] + shares))
    return Interval(math.exp(level + own), math.exp(low), math.exp(high))


def _each(interval: Interval, function: Callable[[float], float]) -> Interval:
    return Interval(function(interval.estimate), function(interval.low), function(interval.high))
