"""How long steps take, read from when a trial logged its points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tunebook.core.commands import STDOUT
from tunebook.core.curves import Curve, Floats, Ints
from tunebook.core.study import Study
from tunebook.execution.commands import READ_SECONDS

# A gap between points that is so many times larger than the next smaller one parts bunches.
_JUMP: Final = 3.0
# Points within bunches take no more than this share of a trial's time.
_WITHIN: Final = 0.05
# Times that are known to be late by up to so much are taken so many times as far apart.
_APART: Final = 10.0
# What tunebook itself adds to a trial's metrics, at times of its own.
_OWN: Final = ("memory/", "time/")


def least_apart(study: Study) -> float:
    """How many seconds apart times of logging must be to tell the time of a step.

    Lines of JSON in a file have the time at which they were read; all else has its own.
    """
    files = study.command.json_lines if study.command is not None else ()
    return _APART * READ_SECONDS if any(path != STDOUT for path in files) else 0.0


def seconds_per_step(curves: Mapping[str, Curve], apart: float = 0.0) -> Floats:
    """The time of a step between each two times of logging, in their order; may be empty.

    The metric with the most times of logging counts. A loop that logs several steps at once has
    one time for all of them: that of the last. With `apart`, times are at least so many seconds
    apart: steps in between are taken together.

    >>> at_once = Curve.of([1, 2, 3, 4, 5, 6], [0] * 6, [1.0, 1.0, 1.0, 2.5, 2.5, 2.5])
    >>> seconds_per_step({"loss": at_once}).tolist()
    [0.5]
    """
    own = [curve for name, curve in sorted(curves.items()) if _is_its_own(name)]
    return max((_per_step(curve, apart) for curve in own), key=len, default=np.array([]))


def logging_interval(curves: Mapping[str, Curve], apart: float = 0.0) -> int | None:
    """How many steps a trial's times of logging usually are apart; None where it logged nothing."""
    name = finest_metric(curves)
    if name is None:
        return None
    finest = curves[name]
    steps, _ = _times_of_logging(finest, apart)
    gaps = np.diff(steps if len(steps) > 1 else finest.steps)
    return max(int(np.median(gaps)), 1) if len(gaps) else max(int(finest.steps[0]), 1)


def points(curves: Mapping[str, Curve]) -> int:
    """How many points the metric has that a trial logged most often."""
    name = finest_metric(curves)
    return len(curves[name]) if name is not None else 0


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


def _per_step(curve: Curve, apart: float) -> Floats:
    steps, seconds = _times_of_logging(curve, apart)
    times = np.diff(seconds) / np.diff(steps)
    return np.asarray(times[times > 0])


def _times_of_logging(curve: Curve, apart: float) -> tuple[Ints, Floats]:
    """The steps at which the times change, and these times."""
    if len(curve) < 2:
        return curve.steps, curve.seconds
    last = np.append(np.diff(curve.seconds) > _within_bunches(np.diff(curve.seconds)), True)
    steps, seconds = curve.steps[last], curve.seconds[last]
    kept = [0]
    while apart and (at := int(np.searchsorted(seconds, seconds[kept[-1]] + apart))) < len(seconds):
        kept.append(at)
    return (steps[kept], seconds[kept]) if apart else (steps, seconds)


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
