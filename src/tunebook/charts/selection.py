"""Which trials a picture shows, in which group, and what it says of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.representation import counted, listed, number, one_line
from tunebook.core.space import Setting

# The trials that stand out in a scatter, and the lines that do so among curves.
BEST_FEW = 5
BEST_CURVES = 3
MOST_POINTS = 300
# Groups of a study with one setting: what is infeasible, the many in grey, and the best few lines.
INFEASIBLE = 1
MANY = 7
BEST_LINES = (0, 2, 3)

T = TypeVar("T")

_WORDS = {
    Standing.CENSORED: "stopped early",
    Standing.BROKEN: "broken",
    Standing.PENDING: "not ended",
}


def groups(evidence: Evidence) -> dict[Setting, int]:
    """The group of each setting that has trials: the same in every figure of a study."""
    return {arm.setting: place for place, arm in enumerate(evidence.arms)}


def setting_text(setting: Setting) -> str:
    return one_line(str(setting))


def spread(items: Sequence[T], most: int) -> tuple[T, ...]:
    """At most so many of the items, evenly, the first and the last among them.

    >>> spread("abcdefg", 3)
    ('a', 'd', 'g')
    """
    if len(items) <= most:
        return tuple(items)
    return tuple(items[i] for i in np.linspace(0, len(items) - 1, most).round().astype(int))


def shown(
    ranked: Sequence[Reading], most: int = MOST_POINTS, best: int = BEST_FEW
) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
    """The best few, and of the rest an even spread over the ranks."""
    return tuple(ranked[:best]), spread(ranked[best:], max(most - best, 1))


def left_out(kept: int, known: int, what: str = "trials", best: int = BEST_FEW) -> str:
    """The note where `shown` left some out."""
    if kept >= known:
        return ""
    return f"{kept} of {known} {what} are drawn: the best {best} and an even spread over the rest."


def without_value(evidence: Evidence) -> str:
    """The note on trials that have no place in a picture of results."""
    missing = [
        f"{len(found)} {words}"
        for standing, words in _WORDS.items()
        if (found := evidence.only(standing))
    ]
    return f"Not shown, for they have no result: {listed(missing, most=4)}." if missing else ""


def tooltip(evidence: Evidence, reading: Reading) -> str:
    """A trial, its setting where there are several, and its result or why it has none."""
    setting = f" ({setting_text(reading.record.trial.setting)})" if len(evidence.arms) > 1 else ""
    result = one_line(reading.why) if reading.value is None else number(reading.value)
    return f"trial {reading.number}{setting}: {result}"


def best_text(evidence: Evidence) -> str:
    """`trial 7 (valid/error 0.1032)`, or that there is none."""
    best = evidence.best
    if best is None:
        return "no trial"
    metric = one_line(evidence.objective.metric.name)
    return f"trial {best.number} ({metric} {number(best.value)})"


def infeasible_text(evidence: Evidence) -> str:
    """How many trials are crosses, and where; nothing if none is."""
    count = len(evidence.only(Standing.INFEASIBLE))
    if not count:
        return ""
    edge = "top" if evidence.objective.metric.better == "lower" else "bottom"
    verb = "is a cross" if count == 1 else "are crosses"
    return f"{counted(count, 'infeasible trial')} {verb} at the {edge}."


def bad_edge(evidence: Evidence) -> float:
    """The end of the value axis at which infeasible trials are drawn."""
    return np.inf if evidence.objective.metric.better == "lower" else -np.inf
