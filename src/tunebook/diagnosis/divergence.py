"""Whether a trial that ended by itself has diverged nonetheless.

Programs that go on after a NaN leave marks of several kinds: a curve that ends in NaN or infinity;
one that goes blank while what was logged beside it goes on, as tables with empty cells do; and a
training loss that ends no lower than it began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tunebook.core.curves import Curve

# Two metrics were logged together if one has this share of the other's steps while both go on.
SAME_ROWS = 0.9
# Fewer rows than this do not show which metrics are logged together.
LEAST_ROWS = 3
# A training loss of fewer points than this may end high by chance.
LEAST_POINTS = 32


def divergence(curves: Mapping[str, Curve], watched: Sequence[str], train_loss: str | None) -> str:
    """Why a trial counts as diverged, or nothing. `watched` are the metrics that must stay finite.

    >>> curve = Curve.of([1, 2, 3], [0.5, float("nan"), float("nan")])
    >>> divergence({"loss": curve}, ["loss"], None)
    'loss is not finite from step 2 on'
    """
    for name in watched:
        curve = curves.get(name)
        if curve is None or not len(curve):
            continue
        if not np.isfinite(curve.values[-1]):
            return f"{name} is not finite from step {_broken_at(curve)} on"
        if _goes_blank(curve, [c for other, c in curves.items() if other != name]):
            return f"{name} is blank after step {curve.steps[-1]} while other metrics go on"
    loss = curves.get(train_loss) if train_loss else None
    if loss is not None and _ends_where_it_began(loss):
        return f"{train_loss} ended at {loss.values[-1]:.4g}, no lower than it began"
    return ""


def _broken_at(curve: Curve) -> int:
    """The first step of the run of non-finite values at the end."""
    finite = np.flatnonzero(np.isfinite(curve.values))
    return int(curve.steps[finite[-1] + 1 if len(finite) else 0])


def _goes_blank(curve: Curve, others: Sequence[Curve]) -> bool:
    """Whether a curve ends before another one that was logged in the same rows."""
    if len(curve) < LEAST_ROWS:
        return False
    end = curve.steps[-1]
    for other in others:
        if not len(other) or other.steps[-1] <= end:
            continue
        before = other.steps[other.steps <= end]
        shared = np.isin(curve.steps, before, assume_unique=True).sum()
        if shared == len(curve) and shared >= SAME_ROWS * len(before):
            return True
    return False


def _ends_where_it_began(loss: Curve) -> bool:
    """Whether the end of a training loss lies no lower than all of its beginning.

    The beginning's highest value, since single batches are noisy: a loss that merely falls little
    is not meant.
    """
    values = loss.values[np.isfinite(loss.values)]
    if len(values) < LEAST_POINTS:
        return False
    part = max(len(values) // 10, LEAST_POINTS // 4)
    return bool(np.median(values[-part:]) >= np.max(values[:part]))
