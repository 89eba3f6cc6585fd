"""Isolation plots: the best trial for each scientific value, nuisances optimised away.

The best of few trials is partly luck. Each has a whisker: where analysis brings sample paths of a
Gaussian process, the interval of the setting's optimum; otherwise how the best varies when the
trials are drawn again with replacement, which cannot show what more tuning would gain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tunebook.charts.figures import Axis, Figure, Intervals, Panel, Points
from tunebook.charts.ranges import value_axis
from tunebook.charts.selection import groups, left_out, setting_text, shown, tooltip, without_value
from tunebook.charts.wording import change, limited, metric_label, sentences
from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence, Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.representation import number, one_line, value_text
from tunebook.core.space import Setting
from tunebook.stats.optima import Optimum

LEVEL = 0.9
_TAIL = (1 - LEVEL) / 2

RESAMPLED = (
    "Whiskers end where the best of a resample of the trials does in 95% of cases; they do not "
    "show what more tuning would gain, so that no winner follows from them."
)
_PATHS = (
    "Squares and whiskers: the median and the 90% interval of each setting's optimum, from sample "
    "paths of a Gaussian process; they may lie on either side of a lucky best trial."
)


@dataclass(frozen=True, slots=True)
class Best:
    """The best of some trials, and a whisker about `middle`, in the metric's own direction."""

    reading: Reading
    middle: float
    low: float
    high: float
    trials: int

    @property
    def value(self) -> float:
        return self.middle if self.reading.value is None else self.reading.value


def isolation(evidence: Evidence, optima: Mapping[Setting, Optimum] | None = None) -> Figure | None:
    """The best trial of each setting; None for fewer than two settings, or without results.

    `optima` are used where every setting with a result has one.
    """
    metric = evidence.objective.metric
    found = [best_of(arm.ranked, metric) for arm in evidence.arms if arm.ranked]
    if len(evidence.arms) < 2 or not found:
        return None
    known = optima if optima and all(_setting(best) in optima for best in found) else {}
    found = [_by_paths(best, known[_setting(best)], metric) if known else best for best in found]
    place = groups(evidence)
    points, note = every_trial(evidence, lambda r: float(place.get(r.record.trial.setting, np.nan)))
    x = np.array([place[_setting(best)] for best in found], dtype=np.float64)
    marks = (points, *whiskers(evidence, x, found))
    table, cut = limited(
        ("setting", "trials", "infeasible", "best trial", "best", "from", "to"),
        [_row(arm, found) for arm in evidence.arms],
    )
    return Figure(
        "isolation",
        "Best trial of each setting",
        _sentence(metric, found),
        (Panel(_setting_axis(evidence), result_axis(evidence, found), marks),),
        table,
        sentences(_PATHS if known else RESAMPLED, note, without_value(evidence), cut),
    )


def best_of(readings: Sequence[Reading], metric: Metric) -> Best:
    """The best of measured trials, at least one, and how bad the best of a resample may be."""
    ranked = sorted(readings, key=lambda r: metric.loss(r.value or 0.0))
    n = len(ranked)
    # The best of a resample ranks behind the j-th best with probability (1 - j/n)^n.
    j = int(np.ceil(n * (1 - _TAIL ** (1 / n)) - 1e-9))
    values = [ranked[0].value or 0.0, ranked[max(j, 1) - 1].value or 0.0]
    return Best(ranked[0], values[0], min(values), max(values), n)


def every_trial(evidence: Evidence, x: Callable[[Reading], float]) -> tuple[Points, str]:
    """All measured trials, faint, and a note where some are left out."""
    best, others = shown(evidence.ranked)
    drawn = (*best, *others)
    points = Points(
        np.array([x(r) for r in drawn], dtype=np.float64),
        np.array([r.value for r in drawn], dtype=np.float64),
        name="trials",
        labels=tuple(tooltip(evidence, r) for r in drawn),
        weight="faint",
    )
    return points, left_out(len(drawn), len(evidence.ranked))


def whiskers(evidence: Evidence, x: Floats, found: Sequence[Best]) -> tuple[Intervals, Points]:
    """The whiskers, and the best trials themselves."""
    middles, lows, highs, values = np.array(
        [(best.middle, best.low, best.high, best.value) for best in found]
    ).T
    texts = tuple(f"{number(best.low)} to {number(best.high)}" for best in found)
    labels = tuple(tooltip(evidence, best.reading) for best in found)
    return (
        Intervals(x, middles, lows, highs, 1, "its uncertainty", texts),
        Points(x, values, 0, "best trial", labels, "strong"),
    )


def result_axis(evidence: Evidence, found: Sequence[Best]) -> Axis:
    values = [r.value or 0.0 for r in evidence.ranked]
    ends = [end for best in found for end in (best.low, best.high)]
    return value_axis(metric_label(evidence.objective), [*values, *ends])


def overlap(metric: Metric, first: Best, second: Best) -> str:
    """Whether the whiskers of the best and the second best meet."""
    bad, good = (first.high, second.low) if metric.better == "lower" else (first.low, second.high)
    if metric.is_better(bad, good):
        return f"its whisker ends before that, at {number(bad)}"
    return "their whiskers meet, so that this may be luck"


def cells(best: Best) -> tuple[str, ...]:
    """A table's cells for a best trial: number, result, ends of the whisker."""
    return str(best.reading.number), number(best.value), number(best.low), number(best.high)


def named(best: Best) -> str:
    return f"{best.reading.number} ({number(best.value)})"


def _setting(best: Best) -> Setting:
    return best.reading.record.trial.setting


def _by_paths(best: Best, optimum: Optimum, metric: Metric) -> Best:
    low, middle, high = np.quantile(optimum.values, [_TAIL, 0.5, 1 - _TAIL]).tolist()
    if metric.better == "higher":
        low, middle, high = -high, -middle, -low
    return Best(best.reading, middle, low, high, best.trials)


def _setting_axis(evidence: Evidence) -> Axis:
    settings = [arm.setting for arm in evidence.arms]
    names = {name for setting in settings for name, _ in setting.values}
    if len(names) == 1 and all(setting.values for setting in settings):
        texts = tuple(value_text(setting.values[0][1]) for setting in settings)
        return Axis(one_line(names.pop()), "category", categories=texts)
    return Axis("setting", "category", categories=tuple(map(setting_text, settings)))


def _row(arm: Arm, found: Sequence[Best]) -> tuple[str, ...]:
    mine = [best for best in found if _setting(best) == arm.setting]
    last = cells(mine[0]) if mine else ("-", "-", "-", "-")
    infeasible = str(len(arm.only(Standing.INFEASIBLE)))
    return setting_text(arm.setting), str(len(arm)), infeasible, *last


def _sentence(metric: Metric, found: Sequence[Best]) -> str:
    ranked = sorted(found, key=lambda best: metric.loss(best.value))
    first = ranked[0]
    text = f"{setting_text(_setting(first))} has the best trial, {named(first)}"
    if len(ranked) < 2:
        return f"{text}; no other setting has a result."
    second = ranked[1]
    gap = change(first.value, second.value)
    other = setting_text(_setting(second))
    return f"{text}, {gap} better than that of {other}; {overlap(metric, first, second)}."
