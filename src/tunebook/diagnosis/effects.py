"""The difference of interest: how large a difference must be before it is worth a word.

It is fixed before any threshold. With enough points every wiggle is significant; an engineer asks
whether it would change a decision. Questions about curves, noise and budgets measure in this unit.
"""

from __future__ import annotations

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence

# Changes of less than one hundredth of the error that is left are not launched.
SHARE_OF_VALUE = 0.01
# Nor is a tenth of what separates the best trial from the typical one: tuning moves more than that.
SHARE_OF_TUNING = 0.1
# One trial has no typical one to compare with; of few, the median is as lucky as the best.
LEAST_FOR_TUNING = 5


def difference_of_interest(evidence: Evidence) -> float | None:
    """The smallest difference of the objective that matters; None when nothing was measured.

    The larger of one hundredth of the best value's distance from zero (from chance or, for a
    share, from one, where that is nearer) and one tenth of the distance between the best trial and
    the median one.
    """
    if not evidence.ranked:
        return None
    smallest = max(
        SHARE_OF_VALUE * _left(evidence), SHARE_OF_TUNING * (gain_of_tuning(evidence) or 0.0)
    )
    return smallest if 0.0 < smallest < np.inf else None


def gain_of_tuning(evidence: Evidence) -> float | None:
    """How much better the best trial is than the median one; None for too few."""
    if len(evidence.ranked) < LEAST_FOR_TUNING:
        return None
    values = _values(evidence)
    return abs(float(np.median(values)) - float(values[0]))


def is_share(values: Floats) -> bool:
    """Whether values look like shares of examples, such as error rates and accuracies.

    >>> is_share(np.array([0.9, 0.1])), is_share(np.array([2.3, 0.4]))
    (True, False)
    """
    return bool(len(values)) and bool(np.all((values >= 0.0) & (values <= 1.0)))


def least_loss(evidence: Evidence) -> float:
    """The end of the objective's scale, lower being better: no optimum lies beyond it.

    Errors and losses that were never negative end at 0, accuracies at 1.
    """
    values = _values(evidence)
    if evidence.objective.metric.better == "higher":
        return -1.0 if is_share(values) else -np.inf
    return 0.0 if len(values) and bool(np.all(values >= 0.0)) else -np.inf


def _values(evidence: Evidence) -> Floats:
    return np.array([r.value for r in evidence.ranked], dtype=np.float64)


def _left(evidence: Evidence) -> float:
    """How far the best value is from the nearest end of its scale."""
    values = _values(evidence)
    best, chance = float(values[0]), evidence.study.knobs.chance
    ends = [0.0] + ([1.0] if is_share(values) else []) + ([] if chance is None else [chance])
    distances = [abs(best - end) for end in ends if best != end]
    return min(distances, default=0.0)
