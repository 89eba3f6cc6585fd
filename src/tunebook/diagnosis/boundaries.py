"""Is the search space large enough?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tunebook.core.domains import Float, Int
from tunebook.core.domains import place as unit_place
from tunebook.core.evidence import Arm, Evidence, Reading, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted, listed
from tunebook.core.space import Parameter
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import of_setting, percent
from tunebook.diagnosis.questions import SEARCH_SPACE
from tunebook.diagnosis.ranges import Range, extended, place
from tunebook.diagnosis.shortage import more_trials, no_result
from tunebook.diagnosis.surfaces import surface
from tunebook.stats.edges import probability_beyond
from tunebook.stats.permutation import Clustering, Side, top_clustering

# Of fewer results the best fifth is one or two trials, which lie somewhere.
LEAST_TRIALS = 10
# How many of the best trials are looked at.
TOP = 0.2
# Weaker clustering would not stand beside the other sides, and is not worth a model.
CLUSTERED = 0.05
# Nor is it where the best trials lie near the middle of a range, however surely: their mean rank
# along it must be this far out, from 0 to 1.
OUTWARD = 0.65
# Clustering alone also fires on an optimum inside, at three quarters of a range.
BEYOND = 0.8
# The part of a range that counts as near its end, in sentences.
NEAR = 0.25
# The outermost trials at a side, and the share of them that makes it the edge of what works.
OUTERMOST = 0.1
WALL = 0.5


@dataclass(frozen=True, slots=True)
class Edge:
    """One side of one parameter's range in one setting, with what speaks for looking beyond."""

    arm: Arm
    column: int
    side: Side
    p: float
    beyond: float

    @property
    def parameter(self) -> Parameter:
        return self.arm.parameters[self.column]


def search_space(evidence: Evidence) -> Finding:
    """Whether the best trials cluster at an end of a range, with the optimum likely beyond it."""
    ranges = [p for p in evidence.study.space if p.is_sampled and isinstance(p.source, Float | Int)]
    if not ranges:
        return finding(SEARCH_SPACE, [], "No range is searched: there is no end to be at.")
    arms = [arm for arm in evidence.arms if len(arm.sampled.measured) >= LEAST_TRIALS]
    if not arms:
        if not evidence.ranked:
            return unknown(SEARCH_SPACE, *no_result(evidence))
        most = max((len(arm.sampled.measured) for arm in evidence.arms), default=0)
        return unknown(
            SEARCH_SPACE,
            f"{counted(most, 'result')}{' of the setting that has most' if most else ''} "
            f"{'is' if most == 1 else 'are'} too few to tell where the best trials lie.",
            more_trials(evidence, LEAST_TRIALS - most),
        )
    edges = [edge for arm in arms for edge in _edges(arm)]
    claims = [
        claim
        for parameter in ranges
        for side in ("low", "high")
        if (claim := _claim(evidence, _at(edges, parameter, side), len(arms))) is not None
    ]
    untested = [s for s in evidence.study.space.settings() if s not in {a.setting for a in arms}]
    few = (
        f"{listed([str(setting) for setting in untested])} "
        f"{'has' if len(untested) == 1 else 'have'} too few results to tell"
    )
    calm = (
        f"The best trials lie inside the ranges of {counted(len(ranges), 'parameter')}, "
        f"not at their ends{f'; {few}' if untested else ''}."
    )
    said = finding(
        SEARCH_SPACE,
        claims,
        calm,
        method=f"permutation of the best {percent(TOP)}, and a Gaussian process that puts the "
        f"optimum beyond with a probability of {BEYOND:g} or more",
    )
    best = evidence.best
    if said.verdict is Verdict.GOOD and best and best.record.trial.setting in untested:
        return unknown(
            SEARCH_SPACE,
            f"{few}, and the best trial ({best.number}) is of {best.record.trial.setting}.",
            f"Run every setting with at least {LEAST_TRIALS} trials that work.",
        )
    return said


def _edges(arm: Arm) -> list[Edge]:
    """Every side of every range that may be extended and was tested."""
    tried = arm.sampled.measured
    found = []
    for column, parameter in enumerate(arm.parameters):
        domain = parameter.source
        if not isinstance(domain, Float | Int):
            continue
        clustering = top_clustering(tried.points[:, column], tried.losses, TOP)
        if clustering is None:
            continue
        for side in ("low", "high"):
            if _may_extend(domain, side) and not _is_wall(arm.sampled.judged, column, side):
                found.append(_looked_beyond(arm, column, side, clustering))
    return found


def _looked_beyond(arm: Arm, column: int, side: Side, seen: Clustering) -> Edge:
    """A side whose p-value counts only if a model expects the optimum beyond it, too."""
    p, outward = (seen.low, 1 - seen.mean_rank) if side == "low" else (seen.high, seen.mean_rank)
    if p > CLUSTERED or outward < OUTWARD:
        return Edge(arm, column, side, 1.0, math.nan)
    upper = side == "high"
    beyond = probability_beyond(surface(arm), column, 1.0 if upper else 0.0, upper=upper)
    return Edge(arm, column, side, p if beyond >= BEYOND else 1.0, beyond)


def _may_extend(domain: Range, side: Side) -> bool:
    """Not a side that is marked as a limit, nor one that ends at zero by nature."""
    if domain.limit in (side, "both"):
        return False
    return side == "high" or not (domain.low == 0 or (isinstance(domain, Int) and domain.low == 1))


def _is_wall(judged: Arm, column: int, side: Side) -> bool:
    """Whether what lies outermost does not work: an edge of stability, no end of a range."""
    coordinate = judged.points[:, column]
    order = np.argsort(coordinate if side == "low" else -coordinate, kind="stable")
    known = order[~np.isnan(coordinate[order])]
    outermost = known[: max(3, math.ceil(OUTERMOST * len(known)))]
    bad = [judged.readings[row].standing is Standing.INFEASIBLE for row in outermost]
    return sum(bad) >= WALL * len(bad)


def _at(edges: list[Edge], parameter: Parameter, side: str) -> list[Edge]:
    return [edge for edge in edges if edge.parameter.name == parameter.name and edge.side == side]


def _claim(evidence: Evidence, edges: list[Edge], arms: int) -> Claim | None:
    """One claim for a side, whatever the number of settings in which it was tested."""
    if not edges:
        return None
    edge = min(edges, key=lambda one: one.p)
    name, domain, low = edge.parameter.name, edge.parameter.source, edge.side == "low"
    if not isinstance(domain, Float | Int):
        return None
    top = _top(edge)
    units = np.array([unit_place(domain, r.record.trial.config[name]) for r in top])
    near = units <= NEAR if low else units >= 1 - NEAR
    line = place(domain, NEAR if low else 1 - NEAR)
    end = place(domain, 0.0 if low else 1.0)
    return Claim(
        f"{int(near.sum())} of the best {counted(len(top), 'trial')}"
        f"{of_setting(evidence, edge.arm)} {'has' if near.sum() == 1 else 'have'} {name} "
        f"{'below' if low else 'above'} {line}, near the {'lower' if low else 'upper'} "
        f"end {end} of its range.",
        Verdict.PROBLEM,
        p=min(1.0, arms * edge.p),
        advice=f"Extend {name} {'down' if low else 'up'} to {extended(domain, edge.side)}.",
        subject=f"{name} ({'lower' if low else 'upper'} end)",
        trials=tuple(r.number for r, close in zip(top, near, strict=True) if close),
        numbers={} if math.isnan(edge.beyond) else {"probability beyond": edge.beyond},
    )


def _top(edge: Edge) -> list[Reading]:
    """The best trials of a setting in which the parameter exists."""
    name, tried = edge.parameter.name, edge.arm.sampled.ranked
    having = [r for r in tried if name in r.record.trial.config]
    return having[: max(2, math.ceil(TOP * len(having)))]
