"""Whether a trial that ended by itself has diverged nonetheless.

Programs that go on after a NaN leave marks of several kinds: a curve that ends in NaN or infinity;
one that goes blank while what was logged beside it goes on, as tables with empty cells do; a loss
that ends far above where it began; and a training loss that ends no lower than it began.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tunebook.core.curves import Curve
from tunebook.core.results import TrialRecord

# Two metrics were logged together if one has this share of the other's steps while both go on.
SAME_ROWS = 0.9
# Fewer rows than this do not show which metrics are logged together.
LEAST_ROWS = 3
# A curve that ends before this share of the steps, and so many intervals early, has gone silent.
LATE = 0.9
SILENCE = 10
# A loss that ends this many times above its first value has exploded, however few its points.
EXPLODED = 100.0
# Parts of a loss, such as a divergence from a prior, may begin at zero and grow.
_PLAIN_LOSS = re.compile(r"(?i)^((train|training|val|valid|validation|eval|dev|test)[/_.\-])?loss$")
# A training loss of fewer points than this may end high by chance.
LEAST_POINTS = 32


def divergence(
    curves: Mapping[str, Curve],
    watched: Sequence[str],
    train_loss: str | None = None,
    *,
    kept_to_the_end: bool = False,
) -> str:
    """Why a trial counts as diverged, or nothing. `watched`, and every loss, must stay finite.

    `kept_to_the_end` says that the study's trials log their training loss until they end.

    >>> curve = Curve.of([1, 2, 3], [0.5, float("nan"), float("nan")])
    >>> divergence({"valid/loss": curve}, ["valid/error"])
    'valid/loss is not finite from step 2 on'
    """
    losses = {name for name in curves if "loss" in name.rpartition("/")[2].lower()}
    losses |= {train_loss} if train_loss else set()
    for name in dict.fromkeys((*watched, *sorted(losses))):
        curve = curves.get(name)
        if curve is None or not len(curve):
            continue
        if not np.isfinite(curve.values[-1]):
            return f"{name} is not finite from step {_broken_at(curve)} on"
        if _goes_blank(curve, [c for other, c in curves.items() if other != name]):
            return f"{name} is blank after step {curve.steps[-1]} while other metrics go on"
        if (name == train_loss or _PLAIN_LOSS.search(name)) and _explodes(curve):
            began, ended = curve.values[0], curve.values[-1]
            return f"{name} ended at {ended:.4g}, far above the {began:.4g} that it began with"
    loss = curves.get(train_loss) if train_loss else None
    if loss is None or not len(loss):
        return ""
    if kept_to_the_end and _stops_early(loss, last_step(curves)):
        return f"{train_loss} is blank after step {loss.steps[-1]} while other metrics go on"
    if _ends_where_it_began(loss):
        return f"{train_loss} ended at {loss.values[-1]:.4g}, no lower than it began"
    return ""


def last_step(curves: Mapping[str, Curve]) -> int:
    """The last step at which a trial logged anything."""
    return max((int(curve.steps[-1]) for curve in curves.values() if len(curve)), default=-1)


def goes_to_the_end(records: Iterable[TrialRecord], train_loss: str | None) -> bool:
    """Whether most trials log their training loss until they end."""
    if train_loss is None:
        return False
    stops = [
        _stops_early(curve, last_step(record.curves))
        for record in records
        if (curve := record.curves.get(train_loss)) is not None and len(curve)
    ]
    return sum(stops) < 0.5 * len(stops)


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


def _explodes(loss: Curve) -> bool:
    """Whether a loss ends far above its first value, which must be above zero to be multiplied."""
    if len(loss) < LEAST_ROWS or not loss.values[0] > 0:
        return False
    return bool(loss.values[-1] / EXPLODED > loss.values[0])


def _stops_early(loss: Curve, end: int) -> bool:
    """Whether a curve ends well before its trial, by its own rhythm."""
    if len(loss) < LEAST_ROWS:
        return False
    usual = float(np.median(np.diff(loss.steps)))
    return bool(loss.steps[-1] < LATE * end and end - loss.steps[-1] > SILENCE * usual)


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
