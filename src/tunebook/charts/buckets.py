"""Isolation plots of continuous scientific parameters: the best trial in each bucket."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping

import numpy as np

from tunebook.charts.figures import Figure, Mark, Panel, Rule
from tunebook.charts.isolation import (
    RESAMPLED,
    Best,
    best_of,
    cells,
    every_trial,
    named,
    overlap,
    result_axis,
    whiskers,
)
from tunebook.charts.ranges import domain_of, parameter_axis, position, unit
from tunebook.charts.selection import without_value
from tunebook.charts.wording import change, interval, limited, sentences
from tunebook.core.domains import Float, Int
from tunebook.core.evidence import Evidence, Reading
from tunebook.core.representation import one_line
from tunebook.core.space import Parameter, Role

# Where the study does not say how many.
BUCKETS = 5
# Wider ranges of whole numbers are divided as if they were real.
_MOST_WHOLE = 10**6


def bucket_isolation(evidence: Evidence) -> Figure | None:
    """A panel for each continuous scientific parameter; None without one, or without results."""
    scientific = [p for p in evidence.study.space.by_role(Role.SCIENTIFIC) if not p.makes_settings]
    found = {p.name: (p, best) for p in scientific if (best := _buckets(evidence, p))}
    if not found:
        return None
    pairs = tuple(found.values())
    table, cut = limited(
        ("parameter", "bucket", "trials", "best trial", "best", "from", "to"),
        [_row(parameter, bucket, best[bucket]) for parameter, best in pairs for bucket in best],
    )
    _, note = every_trial(evidence, lambda reading: 0.0)
    return Figure(
        "isolation-buckets",
        "Best trial along the scientific parameters",
        " ".join(_sentence(evidence, parameter, best) for parameter, best in pairs),
        tuple(_panel(evidence, parameter, best) for parameter, best in pairs),
        table,
        sentences("Dashed lines part the buckets.", RESAMPLED, note, without_value(evidence), cut),
    )


def _buckets(evidence: Evidence, parameter: Parameter) -> dict[int, Best]:
    """The best trial of each bucket that has one, settings together."""
    count = parameter.buckets or BUCKETS
    members: dict[int, list[Reading]] = {}
    for reading in evidence.ranked:
        place = unit(parameter, reading.record.trial.config.get(parameter.name))
        if not np.isnan(place):
            members.setdefault(min(int(place * count), count - 1), []).append(reading)
    return {
        bucket: best_of(members[bucket], evidence.objective.metric) for bucket in sorted(members)
    }


def _panel(evidence: Evidence, parameter: Parameter, found: Mapping[int, Best]) -> Panel:
    def x(reading: Reading) -> float:
        return position(parameter, reading.record.trial.config.get(parameter.name))

    points, _ = every_trial(evidence, x)
    count = parameter.buckets or BUCKETS
    edges = (Rule(_edge(parameter, bucket), "x") for bucket in range(1, count))
    middles = np.array([_middle(parameter, bucket) for bucket in found])
    best = tuple(found.values())
    marks: tuple[Mark, ...] = (*edges, points, *whiskers(evidence, middles, best))
    name = one_line(parameter.name)
    return Panel(parameter_axis(parameter), result_axis(evidence, best), marks, name)


def _ends(parameter: Parameter, bucket: int) -> tuple[float, float]:
    """The least and the largest value of a bucket; buckets of whole numbers share none."""
    domain, count = domain_of(parameter), parameter.buckets or BUCKETS
    assert isinstance(domain, Float | Int)
    low, high = bucket / count, (bucket + 1) / count
    if isinstance(domain, Int) and domain.high - domain.low < _MOST_WHOLE:
        whole = range(domain.low, domain.high + 1)
        first, end = (bisect_left(whole, share, key=domain.to_unit) for share in (low, high))
        return float(domain.low + first), float(domain.low + max(end - 1, first))
    return float(domain.from_unit(low)), float(domain.from_unit(high))


def _edge(parameter: Parameter, bucket: int) -> float:
    """Where a bucket begins: between two whole numbers."""
    low, before = _ends(parameter, bucket)[0], _ends(parameter, bucket - 1)[1]
    return (low + before) / 2


def _middle(parameter: Parameter, bucket: int) -> float:
    low, high = _ends(parameter, bucket)
    log = parameter_axis(parameter).scale == "log"
    return math.sqrt(low) * math.sqrt(high) if log else low / 2 + high / 2


def _row(parameter: Parameter, bucket: int, best: Best) -> tuple[str, ...]:
    return one_line(parameter.name), _range(parameter, bucket), str(best.trials), *cells(best)


def _range(parameter: Parameter, bucket: int) -> str:
    return interval(*_ends(parameter, bucket))


def _sentence(evidence: Evidence, parameter: Parameter, found: Mapping[int, Best]) -> str:
    metric = evidence.objective.metric
    ranked = sorted(found, key=lambda bucket: metric.loss(found[bucket].value))
    first = found[ranked[0]]
    name = one_line(parameter.name)
    text = f"The best trial, {named(first)}, has {name} in {_range(parameter, ranked[0])}"
    if len(ranked) < 2:
        return f"{text}, as has every trial."
    second = found[ranked[1]]
    gap = change(first.value, second.value)
    luck = overlap(metric, first, second)
    return f"{text}, {gap} better than the best of any other bucket; {luck}."
