"""Models of a study's surface, fitted once and shared by the questions that need them.

A model of a few hundred trials costs a good part of a second. Models are kept as long as the
evidence that they were fitted to, and no longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence
from tunebook.diagnosis.effects import least_loss
from tunebook.diagnosis.tables import categories_of, filled, tabulate
from tunebook.stats.gaussian_process import GaussianProcess, fit, shortened_tail, thinned
from tunebook.stats.winner import Contest, Contestant, contest

# More trials make models slow and verdicts no better: the best half of what is kept are the best
# trials, the other half is spread over the rest.
MOST_MODELLED = 128
# With fewer results than this, a surface is a guess.
LEAST_MODELLED = 8
# Variances of smaller losses underflow.
SMALLEST = 1e-100


@dataclass(frozen=True, eq=False)
class Tuned:
    """The settings with enough results to be modelled, and what their models say."""

    arms: tuple[Arm, ...]
    contest: Contest


_SURFACES: WeakKeyDictionary[Arm, GaussianProcess] = WeakKeyDictionary()
_TUNED: WeakKeyDictionary[Evidence, Tuned | None] = WeakKeyDictionary()


def surface(arm: Arm) -> GaussianProcess:
    """The process of the results of one setting that were sampled without a look at results."""
    if arm not in _SURFACES:
        points, losses, categories = _modelled(arm.sampled)
        _SURFACES[arm] = fit(points, shortened_tail(losses), categories=categories)
    return _SURFACES[arm]


def tuned(evidence: Evidence) -> Tuned | None:
    """The optimum of every setting that has enough results; None where none has."""
    if evidence not in _TUNED:
        arms = tuple(arm for arm in evidence.arms if len(arm.measured) >= LEAST_MODELLED)
        contestants = [Contestant(*_modelled(_fair(arm))) for arm in arms]
        held = contest(contestants).bounded(least_loss(evidence)) if arms else None
        _TUNED[evidence] = Tuned(arms, held) if held else None
    return _TUNED[evidence]


def _fair(arm: Arm) -> Arm:
    """The trials that no result has chosen, where they are enough: replicates of the best trials,
    and trials guided towards them, would make a setting look luckier than it is."""
    return arm.sampled if len(arm.sampled.measured) >= LEAST_MODELLED else arm


def _modelled(arm: Arm) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Points, losses and categories of measured trials, at most so many."""
    measured = arm.measured
    points, categories = filled(measured.points), categories_of(measured.parameters)
    if not points.shape[1]:
        # Where nothing is searched there is one place, which a category expresses.
        points, categories = np.zeros((len(measured), 1)), np.ones(1, dtype=bool)
    losses = _without_dust(measured.losses)
    kept = thinned(losses, MOST_MODELLED)
    return points[kept], losses[kept], categories


def _without_dust(losses: Floats) -> Floats:
    """Losses whose squares are numbers: what is smaller than that is zero."""
    return np.where(np.abs(losses) < SMALLEST, 0.0, losses)


@dataclass(frozen=True, eq=False)
class Whole:
    """All results of a study in one table, settings included: `points` (n, d), `losses` (n,)."""

    names: tuple[str, ...]
    points: Floats
    losses: Floats
    categories: NDArray[np.bool_]


def whole(evidence: Evidence, arm: Arm | None = None) -> Whole:
    """The sampled results of all settings together, or of one, at most so many."""
    asked = evidence.readings if arm is None else arm.readings
    readings = [r for r in asked if r.value is not None and r.is_sampled]
    loss = evidence.objective.metric.loss
    values = [loss(r.value) for r in readings if r.value is not None]
    losses = _without_dust(np.array(values, dtype=np.float64))
    kept = thinned(losses, MOST_MODELLED)
    table = tabulate(evidence.study, [readings[place] for place in kept])
    names = tuple(parameter.name for parameter in table.parameters)
    return Whole(names, table.filled, losses[kept], table.categories)
