"""Proposals along a sequence of points that is fixed in advance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tunebook.core.hashing import derive_unit
from tunebook.core.protocols import Proposal
from tunebook.core.results import Results
from tunebook.core.space import Setting
from tunebook.core.study import Study
from tunebook.core.trials import FromSequence
from tunebook.sampling.dimensions import dimensions

Unit: TypeAlias = Callable[[int, str, int, int], float]
"""(seed, parameter name, dimension, index) -> a number in [0, 1)."""


@dataclass(frozen=True, slots=True)
class SequenceSampler:
    """Trials with one index lie at the same point in all settings: they are paired.

    Raising the number of trials continues the sequence; a child study has a seed of its own, and
    so a sequence of its own.
    """

    unit: Unit

    def count(self, study: Study, setting: Setting) -> int:
        return study.trials_for(setting)

    def propose(
        self, study: Study, setting: Setting, index: int, seen: Callable[[], Results]
    ) -> Proposal:
        place = dimensions(study.space)
        point = {
            parameter.name: self.unit(
                study.sequence_seed, parameter.name, place[parameter.name], index
            )
            for parameter in study.space.searched(setting)
        }
        config = study.config(setting, point)
        return Proposal(setting, config, study.trial_seed(index), FromSequence(index))


def random_unit(seed: int, name: str, dimension: int, index: int) -> float:
    """Plain random numbers: for comparison, since quasi-random ones cover a space better."""
    return derive_unit(seed, "random", name, index)
