"""The difference of interest: how large a difference must be before it is worth a word.

It is fixed before any threshold. With enough points every wiggle is significant; an engineer asks
whether it would change a decision. Questions about curves, noise and budgets measure in this unit.
"""

from __future__ import annotations

import re

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence

# Changes of less than one hundredth of the error that is left are not launched.
SHARE_OF_VALUE = 0.01
# Nor is a tenth of what separates the best trial from the typical one: tuning moves more than that.
SHARE_OF_TUNING = 0.1
# One trial has no typical one to compare with; of few, the median is as lucky as the best.
LEAST_FOR_TUNING = 5
# Names of metrics that are shares of examples, or means of scores between 0 and 1. A loss may lie
# between 0 and 1 as well, so values alone do not tell.
SHARES = {
    *("acc", "err", "f1", "ap", "map", "auc", "auroc", "auprc", "wer", "cer"),
    *("iou", "miou", "dice", "ssim", "top1", "top5", "top10"),
}
IN_WORDS = ("accuracy", "error", "precision", "recall")
# Errors that are distances.
DISTANCES = ("square", "absolute", "relative", "loss", "log", "mse", "mae", "mape", "reconstruct")
SPLITS = frozenset(("train", "training", "valid", "validation", "val", "dev", "test", "eval"))


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


def share_of_value(evidence: Evidence) -> float | None:
    """The same for trials between which nothing was tuned: by the best value's distance alone."""
    smallest = SHARE_OF_VALUE * _left(evidence) if evidence.ranked else 0.0
    return smallest if 0.0 < smallest < np.inf else None


def gain_of_tuning(evidence: Evidence) -> float | None:
    """How much better the best trial is than the median one; None for too few."""
    if len(evidence.ranked) < LEAST_FOR_TUNING:
        return None
    values = _values(evidence)
    return abs(float(np.median(values)) - float(values[0]))


def is_share(metric: str, values: Floats) -> bool:
    """Whether values are shares of examples, by the metric's name and by their range.

    >>> is_share("valid/error", np.array([0.9, 0.1])), is_share("valid/mse", np.array([0.9, 0.1]))
    (True, False)
    >>> is_share("accuracy", np.array([71.0, 68.0]))
    False
    """
    inside = bool(len(values)) and bool(np.all((values >= 0.0) & (values <= 1.0)))
    return inside and _names_share(metric)


def _names_share(metric: str) -> bool:
    """Whether a metric is called like a share.

    >>> [_names_share(name) for name in ("val/top_1", "valErr", "accuracy/valid", "error_rate")]
    [True, True, True, True]
    >>> [_names_share(name) for name in ("accuracy/loss", "mean_squared_error", "bpc", "valid")]
    [False, False, False, False]
    """
    parts = [part for part in metric.split("/") if part.lower() not in SPLITS]
    last = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", parts[-1] if parts else "").lower()
    if any(word in last for word in DISTANCES):
        return False
    words = re.findall(r"[a-z0-9]+", re.sub(r"top\W*_?(?=\d)", "top", last))
    return any(word in SHARES or any(part in word for part in IN_WORDS) for word in words)


def least_loss(evidence: Evidence) -> float:
    """The end of the objective's scale, lower being better: no optimum lies beyond it.

    Errors and losses that were never negative end at 0, accuracies at 1.
    """
    values, metric = _values(evidence), evidence.objective.metric
    if metric.better == "higher":
        return -1.0 if is_share(metric.name, values) else -np.inf
    return 0.0 if len(values) and bool(np.all(values >= 0.0)) else -np.inf


def _values(evidence: Evidence) -> Floats:
    return np.array([r.value for r in evidence.ranked], dtype=np.float64)


def _left(evidence: Evidence) -> float:
    """How far the best value is from the nearest end of its scale."""
    values = _values(evidence)
    best, chance = float(values[0]), evidence.study.knobs.chance
    share = is_share(evidence.objective.metric.name, values)
    ends = [0.0] + ([1.0] if share else []) + ([] if chance is None else [chance])
    distances = [abs(best - end) for end in ends if best != end]
    return min(distances, default=0.0)
