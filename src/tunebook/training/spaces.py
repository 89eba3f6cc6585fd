"""Default nuisance spaces for each optimiser, and how many parameters a budget can tune.

Few trials tune the learning rate alone; each further parameter must be worth its dimension. The
numbers are the playbook's for Adam, and the other optimisers follow them. Momenta are searched as
one minus the momentum on a log scale: 0.9 and 0.99 are as far apart as 0.99 and 0.999.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tunebook.core.domains import Domain, Float
from tunebook.core.errors import StudyError
from tunebook.training.optimisers import named

# Parameters in the order in which they are worth tuning, each with the trials it takes.
Dimensions: TypeAlias = tuple[tuple[int, str, Domain], ...]

# Trials of each setting from which a parameter is searched; below, it keeps its default.
FEW, MORE, MANY = 10, 25, 100

_COMPLEMENT = "one_minus_"
_LARGE_RATE = (1, "learning_rate", Float(1e-4, 1.0, log=True))
_SMALL_RATE = (1, "learning_rate", Float(1e-5, 1e-1, log=True))
# Never above 1: there, a momentum would be negative.
_WIDE = Float(1e-3, 1.0, log=True, limit="high")
_EPSILON = (MORE, "epsilon", Float(1e-10, 1.0, log=True))
_MOMENTUM: Dimensions = (_LARGE_RATE, (FEW, "one_minus_momentum", _WIDE))
_ADAM: Dimensions = (
    _SMALL_RATE,
    (FEW, "one_minus_beta1", _WIDE),
    _EPSILON,
    (MANY, "one_minus_beta2", Float(1e-4, 0.5, log=True, limit="high")),
)
_DIMENSIONS: dict[str, Dimensions] = {
    "sgd": (_LARGE_RATE,),
    "momentum": _MOMENTUM,
    "nesterov": _MOMENTUM,
    "rmsprop": (
        _SMALL_RATE,
        (FEW, "one_minus_rho", Float(1e-3, 0.5, log=True, limit="high")),
        _EPSILON,
        (MANY, "one_minus_momentum", _WIDE),
    ),
    "adam": _ADAM,
    "nadam": _ADAM,
    "adamw": _ADAM,
}


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Nuisance parameters with their ranges, and the parameters derived from them."""

    nuisance: dict[str, Domain]
    derive: dict[str, str]


def default_space(optimiser: str, trials: int) -> SearchSpace:
    """What to search for an optimiser with this many trials for each setting.

    >>> list(default_space("adam", trials=8).nuisance)
    ['learning_rate']
    >>> list(default_space("adam", trials=30).nuisance)
    ['learning_rate', 'one_minus_beta1', 'epsilon']
    """
    named(optimiser)
    if trials < 1:
        raise StudyError(f"a search needs at least 1 trial for each setting, got {trials}")
    affordable = [entry for entry in _DIMENSIONS[optimiser] if trials >= entry[0]]
    nuisance = {name: domain for _, name, domain in affordable}
    derive = {
        name.removeprefix(_COMPLEMENT): f"1 - {name}"
        for name in nuisance
        if name.startswith(_COMPLEMENT)
    }
    return SearchSpace(nuisance, derive)
