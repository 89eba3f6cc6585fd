"""Trials as points: by setting, the best few strong, the infeasible as crosses at the bad edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tunebook.charts.figures import Points, Weight
from tunebook.charts.selection import (
    BEST_FEW,
    INFEASIBLE,
    MOST_POINTS,
    bad_edge,
    groups,
    left_out,
    setting_text,
    shown,
    spread,
    tooltip,
)
from tunebook.charts.wording import sentences
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.space import Setting

# Above so many, single points do not matter and the best must be found among them.
CROWD = 100
MOST_CROSSES = 100


def scatter(evidence: Evidence, x: Callable[[Reading], float]) -> tuple[Points, ...]:
    """Points at a place of each trial and at its result; a place that is NaN is left out."""
    best, others = shown(evidence.ranked)
    crosses = spread(evidence.only(Standing.INFEASIBLE), MOST_CROSSES)
    made: list[Points] = []
    several = len(evidence.arms) > 1
    weight: Weight = "faint" if len(others) > CROWD else "plain"
    for setting, group in groups(evidence).items():
        name = setting_text(setting) if several else "trials"
        strong = "" if several else f"best {BEST_FEW}"
        crossed = (group, "") if several else (INFEASIBLE, "infeasible")
        made += [
            *_points(evidence, _of(setting, others), x, group, name, weight),
            *_points(evidence, _of(setting, crosses), x, *crossed, crosses=True),
            *_points(evidence, _of(setting, best), x, group, strong, "strong"),
        ]
    return tuple(made)


def scatter_note(evidence: Evidence) -> str:
    """What `scatter` leaves out."""
    infeasible = len(evidence.only(Standing.INFEASIBLE))
    crosses = f"Of {infeasible} infeasible trials {MOST_CROSSES} are drawn, evenly."
    return sentences(
        left_out(min(len(evidence.ranked), MOST_POINTS), len(evidence.ranked)),
        crosses if infeasible > MOST_CROSSES else "",
    )


def _of(setting: Setting, readings: Sequence[Reading]) -> list[Reading]:
    return [reading for reading in readings if reading.record.trial.setting == setting]


def _points(
    evidence: Evidence,
    readings: Sequence[Reading],
    x: Callable[[Reading], float],
    group: int,
    name: str,
    weight: Weight = "plain",
    crosses: bool = False,
) -> list[Points]:
    places = np.array([x(reading) for reading in readings], dtype=np.float64)
    kept = [i for i, place in enumerate(places) if not np.isnan(place)]
    if not kept:
        return []
    edge = bad_edge(evidence)
    values = [edge if (value := readings[i].value) is None else value for i in kept]
    labels = tuple(tooltip(evidence, readings[i]) for i in kept)
    y = np.array(values, dtype=np.float64)
    return [Points(places[kept], y, group, name, labels, weight, crosses=crosses)]
