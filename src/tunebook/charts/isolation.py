"""Isolation plots: the best trial for each scientific value, nuisances optimised away.

The best of few trials is partly luck. Each has a whisker: where analysis brings sample paths of a
Gaussian process, the interval of the setting's optimum; otherwise how the best varies when the
trials are drawn again with replacement, which cannot show what more tuning would gain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tunebook.charts.figures import Axis, Figure, Intervals, Mark, Panel, Points, Rule
from tunebook.charts.ranges import domain_of, parameter_axis, position, unit, value_axis
from tunebook.charts.selection import (
    groups,
    left_out,
    setting_text,
    shown,
    tooltip,
    without_value,
)
from tunebook.charts.wording import change, counted, limited, metric_label, sentences
from tunebook.core.evidence import Arm, Evidence, Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.representation import number, one_line, value_text
from tunebook.core.space import Parameter, Role
from tunebook.stats.winner import Contest

BUCKETS = 5
LEVEL = 0.9

_RESAMPLED = (
    "Whiskers: the best in 95 % of resamples of the trials lies within them; "
    "they do not show what more tuning would gain."
)
_PATHS = (
    "Whiskers: 90 % intervals of each setting's optimum, from sample paths of a Gaussian process."
)


@dataclass(frozen=True, slots=True)
class Best:
    """The best of some trials, with the ends of its whisker in the metric's own direction."""

    reading: Reading
    low: float
    high: float
    trials: int


def isolation(evidence: Evidence, contest: Contest | None = None) -> Figure | None:
    """The best trial of each setting. `contest` has one optimum for each of `evidence.arms`."""
    if len(evidence.arms) < 2 or not evidence.ranked:
        return None
    known = contest if contest and len(contest.optima) == len(evidence.arms) else None
    found = [best for arm in evidence.arms if (best := best_of(arm.measured.readings, arm))]
    if known is not None:
        found = [_by_paths(evidence, best, known) for best in found]
    place = groups(evidence)
    x = np.array([place[b.reading.record.trial.setting] for b in found], dtype=np.float64)
    every, note = _every(evidence, lambda r: float(place[r.record.trial.setting]))
    panel = Panel(
        _setting_axis(evidence), _axis(evidence, found), (*every, _whiskers(evidence, x, found))
    )
    table, cut = limited(
        ("setting", "trials", "infeasible", "best trial", "best", "from", "to"),
        [_row(evidence, arm, found) for arm in evidence.arms],
    )
    return Figure(
        "isolation",
        "Best trial of each setting",
        _sentence(evidence, found, known),
        (panel,),
        table,
        sentences(_PATHS if known else _RESAMPLED, note, without_value(evidence), cut),
    )


def bucket_isolation(evidence: Evidence) -> Figure | None:
    """The best trial in each bucket of each continuous scientific parameter."""
    scientific = [p for p in evidence.study.space.by_role(Role.SCIENTIFIC) if not p.makes_settings]
    panels, rows, texts = [], [], []
    for parameter in scientific:
        found = _buckets(evidence, parameter)
        if found:
            panels.append(_bucket_panel(evidence, parameter, found))
            rows += [_bucket_row(parameter, bucket, best) for bucket, best in found.items()]
            texts.append(_bucket_sentence(evidence, parameter, found))
    if not panels:
        return None
    columns = ("parameter", "bucket", "trials", "best trial", "best", "from", "to")
    table, cut = limited(columns, rows)
    _, note = _every(evidence, lambda r: 0.0)
    return Figure(
        "isolation-buckets",
        "Best trial along the scientific parameters",
        " ".join(texts),
        tuple(panels),
        table,
        sentences(_RESAMPLED, note, without_value(evidence), cut),
    )


def best_of(readings: Sequence[Reading], arm: Arm) -> Best | None:
    """The best of measured trials, and how bad the best of a resample may be."""
    metric = arm.objective.metric
    ranked = sorted(readings, key=lambda r: metric.loss(r.value or 0.0))
    if not ranked:
        return None
    n = len(ranked)
    # The best of a resample ranks behind the j-th with probability (1 - j/n)^n.
    j = int(np.ceil(n * (1 - (1 - LEVEL) ** (1 / n) / 2 ** (1 / n)) - 1e-9))
    ends = sorted((ranked[0].value or 0.0, ranked[max(j, 1) - 1].value or 0.0))
    return Best(ranked[0], ends[0], ends[1], n)


def _by_paths(evidence: Evidence, best: Best, contest: Contest) -> Best:
    place = groups(evidence)[best.reading.record.trial.setting]
    low, high = contest.optima[place].interval(LEVEL)
    if evidence.objective.metric.better == "higher":
        low, high = -high, -low
    return Best(best.reading, low, high, best.trials)


def _every(evidence: Evidence, x: Callable[[Reading], float]) -> tuple[tuple[Mark, ...], str]:
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
    return (points,), left_out(len(drawn), len(evidence.ranked))


def _whiskers(evidence: Evidence, x: np.ndarray, found: Sequence[Best]) -> Intervals:
    return Intervals(
        x,
        np.array([best.reading.value for best in found], dtype=np.float64),
        np.array([best.low for best in found]),
        np.array([best.high for best in found]),
        group=1,
        name="best trial",
        labels=tuple(
            f"{tooltip(evidence, best.reading)}, {number(best.low)} to {number(best.high)}"
            for best in found
        ),
    )


def _setting_axis(evidence: Evidence) -> Axis:
    settings = [arm.setting for arm in evidence.arms]
    names = {name for setting in settings for name, _ in setting.values}
    if len(names) == 1 and all(setting.values for setting in settings):
        texts = tuple(value_text(setting.values[0][1]) for setting in settings)
        return Axis(one_line(names.pop()), "category", categories=texts)
    return Axis("setting", "category", categories=tuple(map(setting_text, settings)))


def _axis(evidence: Evidence, found: Sequence[Best]) -> Axis:
    values = [r.value or 0.0 for r in evidence.ranked]
    ends = [end for best in found for end in (best.low, best.high)]
    return value_axis(metric_label(evidence.objective), [*values, *ends])


def _row(evidence: Evidence, arm: Arm, found: Sequence[Best]) -> tuple[str, ...]:
    mine = [best for best in found if best.reading.record.trial.setting == arm.setting]
    cells = _cells(mine[0]) if mine else ("-", "-", "-", "-")
    infeasible = str(len(arm.only(Standing.INFEASIBLE)))
    return setting_text(arm.setting), str(len(arm)), infeasible, *cells


def _cells(best: Best) -> tuple[str, ...]:
    reading = best.reading
    return str(reading.number), number(reading.value), number(best.low), number(best.high)


def _sentence(evidence: Evidence, found: Sequence[Best], contest: Contest | None) -> str:
    ranked = sorted(found, key=lambda b: evidence.objective.metric.loss(b.reading.value or 0.0))
    first = ranked[0]
    text = f"{setting_text(first.reading.record.trial.setting)} has the best trial, {_named(first)}"
    if len(ranked) < 2:
        return f"{text}; no other setting has a result."
    second = ranked[1]
    other = setting_text(second.reading.record.trial.setting)
    gap = change(first.reading.value or 0.0, second.reading.value or 0.0)
    text = f"{text}, {gap} better than that of {other}"
    if contest is not None:
        place = groups(evidence)[first.reading.record.trial.setting]
        return f"{text}; its chance to have the best optimum is {contest.chances[place]:.0%}."
    return f"{text}; {_overlap(evidence.objective.metric, first, second)}."


def _overlap(metric: Metric, first: Best, second: Best) -> str:
    """Whether the whisker of the best reaches the second best."""
    bad = first.high if metric.better == "lower" else first.low
    if metric.is_better(bad, second.reading.value or 0.0):
        return "even its whisker is better than that"
    return "its whisker reaches as far, so that this may be luck"


def _named(best: Best) -> str:
    return f"{best.reading.number} ({number(best.reading.value)})"


def _buckets(evidence: Evidence, parameter: Parameter) -> dict[int, Best]:
    count = parameter.buckets or BUCKETS
    members: dict[int, list[Reading]] = {}
    for reading in evidence.ranked:
        place = unit(parameter, reading.record.trial.config.get(parameter.name))
        if not np.isnan(place):
            members.setdefault(min(int(place * count), count - 1), []).append(reading)
    arm = evidence.arms[0] if evidence.arms else None
    found = {b: best_of(members[b], arm) for b in sorted(members)} if arm else {}
    return {bucket: best for bucket, best in found.items() if best is not None}


def _bucket_panel(evidence: Evidence, parameter: Parameter, found: dict[int, Best]) -> Panel:
    def x(reading: Reading) -> float:
        return position(parameter, reading.record.trial.config.get(parameter.name))

    every, _ = _every(evidence, x)
    middles = np.array([sum(_ends(parameter, b, 0.5)) / 2 for b in found])
    count = parameter.buckets or BUCKETS
    edges = tuple(Rule(_ends(parameter, bucket)[0], "x") for bucket in range(1, count))
    whiskers = _whiskers(evidence, middles, tuple(found.values()))
    axis = _axis(evidence, tuple(found.values()))
    return Panel(
        parameter_axis(parameter), axis, (*edges, *every, whiskers), one_line(parameter.name)
    )


def _ends(parameter: Parameter, bucket: int, inside: float = 0.0) -> tuple[float, float]:
    """The ends of a bucket, or of what is left when a part of each side is taken off."""
    domain, count = domain_of(parameter), parameter.buckets or BUCKETS
    assert domain is not None
    low, high = (bucket + inside) / count, (bucket + 1 - inside) / count
    return position(parameter, domain.from_unit(low)), position(parameter, domain.from_unit(high))


def _bucket_row(parameter: Parameter, bucket: int, best: Best) -> tuple[str, ...]:
    low, high = _ends(parameter, bucket)
    where = f"{number(low)} to {number(high)}"
    return one_line(parameter.name), where, str(best.trials), *_cells(best)


def _bucket_sentence(evidence: Evidence, parameter: Parameter, found: dict[int, Best]) -> str:
    ranked = sorted(
        found, key=lambda b: evidence.objective.metric.loss(found[b].reading.value or 0.0)
    )
    low, high = _ends(parameter, ranked[0])
    first = found[ranked[0]]
    text = (
        f"The best trial, {_named(first)}, has {one_line(parameter.name)} between "
        f"{number(low)} and {number(high)}"
    )
    if len(ranked) < 2:
        return f"{text}, as have all {counted(first.trials, 'trial')}."
    second = found[ranked[1]]
    gap = change(first.reading.value or 0.0, second.reading.value or 0.0)
    luck = _overlap(evidence.objective.metric, first, second)
    return f"{text}, {gap} better than the best of any other bucket; {luck}."
