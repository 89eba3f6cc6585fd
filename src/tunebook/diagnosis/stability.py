"""Is the best learning rate at the edge of stability?

Instability is a problem only when it forces a smaller learning rate than would be best: when rates
above an edge diverge, the best trials crowd below it, and the loss still falls towards it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.stats import rankdata

from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence, Reading, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.trials import Cause
from tunebook.diagnosis.gathering import has_diverged
from tunebook.diagnosis.judging import finding, undecided, unknown
from tunebook.diagnosis.onset import Manner, manner_of
from tunebook.diagnosis.phrases import best_trial, counted, of_setting, shown, times
from tunebook.diagnosis.questions import STABILITY
from tunebook.stats.arrays import Bools
from tunebook.stats.permutation import rank_sum_p, top_clustering

# Fewer measured trials show no trend towards an edge.
LEAST_MEASURED = 5
# The best third of the sound trials must crowd below the edge at this level, and a line through the
# nearest of them must fall, before the slope at the edge is asked about.
TOP = 1 / 3
CROWDED = 0.05
NEAREST = 0.3
# An edge is named only where infeasible trials lie above it at this level.
DIVERGING = 0.05
# Beyond an edge most trials fail, and most of those below it do not.
PARTED = 0.5
# A best rate this near its edge is good only if results clearly worsen towards the edge.
NEAR = 2.0
CLEARLY = 0.05
# Terms of the surface give way where trials are few.
LEAST_FREEDOM = 4


@dataclass(frozen=True, slots=True)
class Edge:
    """Where rates begin to fail in one setting, and how the best trials lie to it.

    `falling` is the chance that results still improve at the edge, as far as a surface tells.
    """

    arm: Arm
    best: Reading
    best_rate: float
    rate: float
    beyond: tuple[Reading, ...]
    falling: float
    p: float

    @property
    def is_undecided(self) -> bool:
        return self.rate < NEAR * self.best_rate and self.falling > CLEARLY


def stability(evidence: Evidence) -> Finding:
    """Whether divergence above an edge keeps the learning rate below its best."""
    name = evidence.study.knobs.learning_rate
    if name is None:
        return unknown(
            STABILITY,
            "No knob says which parameter is the learning rate.",
            "Name it under knobs: learning_rate.",
        )
    tried = [arm for arm in evidence.arms if _varies(arm, name)]
    if not tried:
        return unknown(
            STABILITY,
            f"No setting has {LEAST_MEASURED} measured trials, replicates aside, of which {name} "
            "differs.",
            f"Search {name} on a log scale, up to rates that diverge.",
        )
    found = [edge for arm in tried if (edge := _edge(arm, name)) is not None]
    return finding(
        STABILITY,
        [
            *(_claim(evidence, edge, name) for edge in found),
            *(_undecided(evidence, edge, name) for edge in found if edge.is_undecided),
        ],
        _calm(evidence, tried, found, name),
        method="rates of infeasible trials against the others by rank sums; the slope at the edge "
        "of a surface that is a parabola in every parameter",
        numbers={} if not found else {"edge": found[0].rate, "best": found[0].best_rate},
    )


def _edge(arm: Arm, name: str) -> Edge | None:
    """The edge of a setting; None where no rate parts those that fail."""
    best = arm.best
    if best is None or (best_rate := _rate(best, name)) is None:
        return None
    # Replicates lie where the best trial is, and would crowd there by themselves.
    tried = arm.sampled.judged
    rates = np.array([_rate(r, name) or np.nan for r in tried.readings])
    broken = np.array([r.standing is Standing.INFEASIBLE for r in tried.readings])
    memory = np.array([_no_memory(r) for r in tried.readings])
    # Rates too low to learn anything are infeasible too, and belong to another side.
    lowest = np.min(rates[~broken & np.isfinite(rates)], initial=best_rate)
    counted_in = np.flatnonzero((rates >= lowest) & ~memory)
    x, bad = rates[counted_in], broken[counted_in]
    if not np.any(bad & (x > best_rate)):
        return None
    ranks = rankdata(-x)
    diverging = rank_sum_p(ranks, int(bad.sum()), float(ranks[bad].sum()))
    if diverging > DIVERGING:
        return None
    rate = _threshold(x, bad, best_rate)
    if np.mean(bad[x >= rate]) < PARTED or np.mean(bad[x < rate]) >= PARTED:
        return None
    sound = ~broken & (rates < rate)
    falling = _chance_of_falling(rate, tried, rates, sound, name)
    towards = _lies_towards(rate, tried, rates, sound)
    beyond = tuple(tried.readings[i] for i in counted_in if broken[i] and rates[i] >= rate)
    p = max(diverging, 1.0 - falling) if towards else 1.0
    return Edge(arm, best, best_rate, rate, beyond, falling, p)


def _threshold(rates: Floats, broken: Bools, best_rate: float) -> float:
    """The rate above the best that separates diverging trials from the others best.

    Half-way on the log scale between its neighbours.
    """
    order = np.argsort(rates, kind="stable")
    x, bad = rates[order], broken[order]
    # Cutting before place i: the diverged below and the sound from there on are misplaced.
    misplaced = np.concatenate([[0], np.cumsum(bad)]) + np.concatenate(
        [np.cumsum(~bad[::-1])[::-1], [0]]
    )
    allowed = np.flatnonzero((x > best_rate) & (np.concatenate([[-np.inf], x[:-1]]) < x))
    at = int(allowed[np.argmin(misplaced[allowed])])
    return math.sqrt(float(x[at - 1]) * float(x[at]))


def _lies_towards(rate: float, tried: Arm, rates: Floats, sound: Bools) -> bool:
    """Whether the best trials crowd below a rate and a line through the nearest to it falls.

    A curve that has flattened bends a parabola, whose slope is therefore not trusted alone.
    """
    losses, x = tried.losses[sound], np.log(rates[sound] / rate)
    crowding = top_clustering(x, losses, TOP)
    if crowding is None or crowding.high > CROWDED:
        return False
    nearest = np.argsort(-x, kind="stable")
    nearest = nearest[: max(math.ceil(NEAREST * len(x)), LEAST_MEASURED)]
    return not np.ptp(x[nearest]) > 0 or bool(np.polyfit(x[nearest], losses[nearest], 1)[0] < 0)


def _chance_of_falling(rate: float, tried: Arm, rates: Floats, sound: Bools, name: str) -> float:
    """The chance that results still improve at a rate: of a slope below zero there.

    A parabola in every parameter, the rate's on its log scale, over all sound trials.
    """
    x = np.log(rates[sound] / rate)
    others = [i for i, p in enumerate(tried.parameters) if p.name != name]
    places = np.nan_to_num(tried.points[sound][:, others], nan=0.5) - 0.5
    # The rate in question is at 0, where the slope is the coefficient of x.
    table = np.column_stack([np.ones(len(x)), x, x**2, places, places**2])
    return _falling(table[:, : max(len(x) - LEAST_FREEDOM, 3)], tried.losses[sound])


def _falling(table: Floats, losses: Floats) -> float:
    """The chance that the coefficient of the second column is negative, by least squares.

    One half where trials are too few to tell.
    """
    freedom = len(table) - table.shape[1]
    if freedom < 1 or np.linalg.matrix_rank(table) < table.shape[1]:
        return 0.5
    coefficients = np.linalg.lstsq(table, losses, rcond=None)[0]
    variance = float(np.sum((losses - table @ coefficients) ** 2)) / freedom
    error = math.sqrt(variance * float(np.linalg.inv(table.T @ table)[1, 1]))
    slope = float(coefficients[1])
    return float(special.stdtr(freedom, -slope / error)) if error > 0 else float(slope < 0)


def _claim(evidence: Evidence, edge: Edge, name: str) -> Claim:
    manner = manner_of(evidence, edge.beyond)
    where = best_trial(evidence, edge.arm, edge.best.number)
    return Claim(
        f"{counted(len(edge.beyond), 'trial')}{of_setting(evidence, edge.arm)} with {name} above "
        f"{shown(edge.rate)} {_ended(evidence, edge, manner)}, and {where} has "
        f"{shown(edge.best_rate)}, {_below(edge)}: results still improve towards the edge, so "
        "instability keeps the rate below its best.",
        Verdict.PROBLEM,
        p=edge.p,
        advice=_advice(manner, edge),
        subject=str(edge.arm.setting),
        trials=(edge.best.number, *(r.number for r in edge.beyond)),
        numbers={"edge": edge.rate, "best": edge.best_rate},
    )


def _undecided(evidence: Evidence, edge: Edge, name: str) -> Claim:
    return undecided(
        f"The best {name}{of_setting(evidence, edge.arm)}, {shown(edge.best_rate)}, is "
        f"{_below(edge, shown(edge.rate))}, above which "
        f"{counted(len(edge.beyond), 'trial')} {_ended(evidence, edge)}: whether results still "
        "improve towards that edge cannot be told.",
        f"Run more trials with {name} between {shown(edge.rate / 5)} and {shown(edge.rate)}, or "
        "try higher rates with a warmup or clipped gradients.",
        trials=(edge.best.number, *(r.number for r in edge.beyond)),
    )


def _ended(evidence: Evidence, edge: Edge, manner: Manner | None = None) -> str:
    """What became of the trials beyond an edge: diverged is said only if all of them did."""
    if all(has_diverged(evidence, reading) for reading in edge.beyond):
        return f"diverged{_how(manner)}"
    return "is infeasible" if len(edge.beyond) == 1 else "are infeasible"


def _below(edge: Edge, what: str = "it") -> str:
    factor = edge.rate / edge.best_rate
    return f"{times(factor) if factor >= 1.05 else 'just'} below {what}"


def _how(manner: Manner | None) -> str:
    match manner:
        case "early":
            return " early in training"
        case "sudden":
            return " after a steady fall of the loss"
        case None:
            return ""


def _advice(manner: Manner | None, edge: Edge) -> str:
    higher = f"try rates up to {shown(10 * edge.rate)}"
    match manner:
        case "early":
            return f"Add a warmup, the shortest that is stable, and {higher} with it."
        case "sudden":
            return f"Clip gradients at the 90th percentile of their norms, and {higher} then."
        case None:
            return f"Add a warmup or clip gradients, and {higher}."


def _calm(evidence: Evidence, tried: Sequence[Arm], found: Sequence[Edge], name: str) -> str:
    if found:
        nearest = min(found, key=lambda edge: edge.rate / edge.best_rate)
        return (
            f"{counted(len(nearest.beyond), 'trial')} with {name} above {shown(nearest.rate)} "
            f"{_ended(evidence, nearest)}, but the best"
            f"{of_setting(evidence, nearest.arm)}, {shown(nearest.best_rate)}, is "
            f"{_below(nearest)}, and rates nearer the edge are not clearly better."
        )
    higher, broken, highest = 0, 0, 0.0
    for arm in tried:
        least = _rate(arm.best, name) if arm.best else None
        for reading in arm.judged.readings:
            rate = _rate(reading, name) or 0.0
            highest = max(highest, rate)
            if least is not None and rate > least and not _no_memory(reading):
                higher += 1
                broken += reading.standing is Standing.INFEASIBLE
    if not broken:
        return (
            f"No trial with a higher {name} than the best diverged: {shown(highest)} was the "
            "highest."
        )
    return (
        f"{broken} of the {counted(higher, 'trial')} with a higher {name} than the best "
        f"{'is' if broken == 1 else 'are'} infeasible, but no rate up to {shown(highest)} parts "
        "them from the others."
    )


def _varies(arm: Arm, name: str) -> bool:
    rates = [_rate(r, name) for r in arm.sampled.measured.readings]
    return len(rates) >= LEAST_MEASURED and len(set(rates) - {None}) > 1


def _rate(reading: Reading, name: str) -> float | None:
    value = reading.record.trial.config.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        return None
    return float(value)


def _no_memory(reading: Reading) -> bool:
    outcome = reading.record.outcome
    return outcome is not None and outcome.cause is Cause.OUT_OF_MEMORY
