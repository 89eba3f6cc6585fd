"""How long steps take, read from when a trial logged its points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tunebook.core.curves import Curve, Floats

# A gap between points that is so many times larger than the next smaller one parts bunches.
_JUMP: Final = 3.0
# Points within bunches take no more than this share of a trial's time.
_WITHIN: Final = 0.05
# What tunebook itself adds to a trial's metrics, at times of its own.
_OWN: Final = ("memory/", "time/")


def seconds_per_step(curves: Mapping[str, Curve]) -> Floats:
    """The time of a step between each two times of logging, in their order; may be empty.

    The metric with the most times of logging counts. A loop that logs several steps at once has
    one time for all of them: that of the last.

    >>> at_once = Curve.of([1, 2, 3, 4, 5, 6], [0] * 6, [1.0, 1.0, 1.0, 2.5, 2.5, 2.5])
    >>> seconds_per_step({"loss": at_once}).tolist()
    [0.5]
    """
    found = [_per_step(curve) for name, curve in sorted(curves.items()) if _is_its_own(name)]
    return max(found, key=len, default=np.array([]))


def logging_interval(curves: Mapping[str, Curve]) -> int | None:
    """How many steps apart a trial's points usually are; None where it logged nothing."""
    name = finest_metric(curves)
    if name is None:
        return None
    finest = curves[name]
    gaps = np.diff(finest.steps)
    return int(np.median(gaps)) if len(gaps) else max(int(finest.steps[0]), 1)


def finest_metric(curves: Mapping[str, Curve]) -> str | None:
    """The metric that a trial logged most often, if any."""
    own = sorted(name for name, curve in curves.items() if _is_its_own(name) and len(curve))
    return max(own, key=lambda name: len(curves[name]), default=None)


def waiting_share(curves: Mapping[str, Curve], part: str) -> float | None:
    """The share of a trial's time that one part of its steps took; None where nothing says it.

    It comes from `with run.timing(part):`, and for data also from the reference loop's own meter.
    """
    meter = curves.get("data_wait_share") if part == "data" else None
    if meter is not None and len(meter) > 1:
        return float(np.median(meter.values[1:]))
    timed = curves.get(f"time/{part}")
    if timed is None or len(timed) < 2:
        return None
    # The first point holds the warm-up.
    spent, passed = np.ptp(timed.values), timed.seconds[-1] - timed.seconds[0]
    return float(min(spent / passed, 1.0)) if passed > 0 else None


def _is_its_own(name: str) -> bool:
    return not name.startswith(_OWN)


def _per_step(curve: Curve) -> Floats:
    if len(curve) < 2:
        return np.array([])
    last = np.append(np.diff(curve.seconds) > _within_bunches(np.diff(curve.seconds)), True)
    steps, seconds = curve.steps[last], curve.seconds[last]
    times = np.diff(seconds) / np.diff(steps)
    return np.asarray(times[times > 0])


def _within_bunches(gaps: Floats) -> float:
    """The largest gap between points that were logged at once; 0 where none were.

    Such gaps are far smaller than the others, and make up next to nothing of the time. The largest
    gap of all is left out of the reckoning: it may be a long warm-up.
    """
    ordered = np.sort(gaps)
    total = float(ordered[:-1].sum())
    if total <= 0.0:
        return float(ordered[0]) if len(ordered) > 1 else 0.0
    few = np.flatnonzero(np.cumsum(ordered[:-1]) <= _WITHIN * total)
    ratios = ordered[few + 1] / np.maximum(ordered[few], 1e-9)
    if not len(ratios) or ratios.max() < _JUMP:
        return 0.0
    return float(ordered[few[int(np.argmax(ratios))]])
