"""What every parameter does to the results, in one model of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence
from tunebook.diagnosis.surfaces import Whole, whole
from tunebook.stats.gaussian_process import GaussianProcess, fit, shortened_tail
from tunebook.stats.importance import importance, matters
from tunebook.stats.multiplicity import holm

# Fewer results cannot show that a parameter matters, nor that none does.
LEAST_TRIALS = 12
# A parameter matters where its test, corrected for the others, is below this.
SIGNIFICANT = 0.05
# Below this share nothing is left to be tested.
LEAST_SHARE = 0.01
# So many settings, those with most trials, are tested for what is searched in them.
MOST_ARMS = 2
# Enough for a p-value that is corrected for six parameters and two tests.
PERMUTATIONS = 499


@dataclass(frozen=True, slots=True)
class Weight:
    """What one parameter does: its p-value, and its share of the variance with interactions."""

    name: str
    p: float
    share: float

    @property
    def matters(self) -> bool:
        return self.p <= SIGNIFICANT


@dataclass(frozen=True, eq=False)
class Model:
    """What a model of all results says: weights, shares of pairs `(d, d)`, and how well it does.

    `predicted` is the share of the variance of results that are predicted from all the others; it
    may be negative.
    """

    weights: tuple[Weight, ...]
    pairs: Floats
    predicted: float


_MODELS: WeakKeyDictionary[Evidence, Model] = WeakKeyDictionary()


def weigh(evidence: Evidence, data: Whole) -> Model:
    """The model of a study, made once."""
    if evidence not in _MODELS:
        process = fit(data.points, shortened_tail(data.losses), categories=data.categories)
        shares = importance(process, effects=False)
        p = [
            _tested(evidence, data, name) if share >= LEAST_SHARE else 1.0
            for name, share in zip(data.names, shares.total, strict=True)
        ]
        weights = tuple(
            Weight(name, float(corrected), float(share))
            for name, corrected, share in zip(data.names, holm(p), shares.total, strict=True)
        )
        _MODELS[evidence] = Model(weights, shares.pairs, _predicted(process))
    return _MODELS[evidence]


def _predicted(process: GaussianProcess) -> float:
    mean, _ = process.leave_one_out()
    losses = process.centre + process.scale * process.targets
    variance = float(np.var(losses))
    return 1.0 - float(np.mean((losses - mean) ** 2)) / variance if variance else 0.0


def _tested(evidence: Evidence, data: Whole, name: str) -> float:
    """The p-value of one parameter. Tests are dear: what has no share is not tested.

    What makes settings is tested on all trials. What is searched is tested within settings: they
    share points, so that in all trials together the others' coordinates would give it away.
    """
    if evidence.study.space[name].makes_settings or len(evidence.arms) == 1:
        return _test(data, name)
    arms = sorted(evidence.arms, key=lambda arm: -len(arm.sampled.measured))[:MOST_ARMS]
    alone = [whole(evidence, arm) for arm in arms if len(arm.sampled.measured) >= LEAST_TRIALS]
    tests = [_test(one, name) for one in alone if name in one.names]
    return min([1.0, *(len(tests) * p for p in tests)])


def _test(data: Whole, name: str) -> float:
    return matters(
        data.points,
        data.losses,
        data.names.index(name),
        categories=data.categories,
        permutations=PERMUTATIONS,
    )
