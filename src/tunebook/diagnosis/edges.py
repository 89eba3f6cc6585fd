"""Where learning rates begin to fail in a setting, and whether results improve towards there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.stats import rankdata

from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Reading, Standing
from tunebook.core.trials import Cause
from tunebook.stats.arrays import Bools
from tunebook.stats.permutation import rank_sum_p, top_clustering

# The best third of the sound trials must crowd below the edge at this level, and a line through the
# nearest of them must fall, before the slope at the edge is asked about.
TOP = 1 / 3
CROWDED = 0.05
NEAREST = 0.3
LEAST_NEAREST = 5
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


def edge_of(arm: Arm, name: str) -> Edge | None:
    """The edge of a setting; None where no rate parts those that fail."""
    best = arm.best
    if best is None or (best_rate := rate_of(best, name)) is None:
        return None
    # Replicates lie where the best trial is, and would crowd there by themselves.
    tried = arm.sampled.judged
    rates = np.array([rate_of(r, name) or np.nan for r in tried.readings])
    broken = np.array([r.standing is Standing.INFEASIBLE for r in tried.readings])
    memory = np.array([out_of_memory(r) for r in tried.readings])
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
    nearest = nearest[: max(math.ceil(NEAREST * len(x)), LEAST_NEAREST)]
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


def rate_of(reading: Reading, name: str) -> float | None:
    value = reading.record.trial.config.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        return None
    return float(value)


def out_of_memory(reading: Reading) -> bool:
    outcome = reading.record.outcome
    return outcome is not None and outcome.cause is Cause.OUT_OF_MEMORY
