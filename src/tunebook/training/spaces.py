"""Default nuisance spaces for each optimiser, and how many of Adam's parameters a budget can tune.

Momenta are searched as one minus the momentum on a log scale: 0.9 and 0.99 are as far apart as 0.99
and 0.999.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tunebook.core.domains import Domain, Float
from tunebook.training.optimisers import named

_ONE_MINUS_MOMENTUM = Float(1e-3, 1.0, log=True, limit="high")
_ADAM_RATE = Float(1e-5, 1e-1, log=True)
# Trials of each setting from which a parameter is worth its dimension; below, its default is kept.
BETA1_FROM, EPSILON_FROM, BETA2_FROM = 10, 25, 100


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Nuisance parameters with their ranges, and the parameters derived from them."""

    nuisance: dict[str, Domain]
    derive: dict[str, str] = field(default_factory=dict)


def default_space(optimiser: str, trials: int) -> SearchSpace:
    """What to search for an optimiser with this many trials for each setting.

    >>> list(default_space("adam", trials=8).nuisance)
    ['learning_rate']
    >>> list(default_space("adam", trials=30).nuisance)
    ['learning_rate', 'one_minus_beta1', 'epsilon']
    """
    named(optimiser)
    if optimiser in ("adam", "nadam", "adamw"):
        return _adam_space(trials)
    nuisance: dict[str, Domain] = {"learning_rate": Float(1e-4, 1.0, log=True)}
    if optimiser in ("momentum", "nesterov"):
        nuisance["one_minus_momentum"] = _ONE_MINUS_MOMENTUM
        return SearchSpace(nuisance, {"momentum": "1 - one_minus_momentum"})
    if optimiser == "rmsprop":
        nuisance = {"learning_rate": Float(1e-5, 1e-1, log=True)}
        if trials >= BETA1_FROM:
            nuisance["one_minus_rho"] = Float(1e-3, 0.5, log=True)
            return SearchSpace(nuisance, {"rho": "1 - one_minus_rho"})
    return SearchSpace(nuisance)


def _adam_space(trials: int) -> SearchSpace:
    nuisance: dict[str, Domain] = {"learning_rate": _ADAM_RATE}
    derive: dict[str, str] = {}
    if trials >= BETA1_FROM:
        nuisance["one_minus_beta1"] = Float(1e-3, 1.0, log=True, limit="high")
        derive["beta1"] = "1 - one_minus_beta1"
    if trials >= EPSILON_FROM:
        nuisance["epsilon"] = Float(1e-10, 1.0, log=True)
    if trials >= BETA2_FROM:
        nuisance["one_minus_beta2"] = Float(1e-4, 0.5, log=True)
        derive["beta2"] = "1 - one_minus_beta2"
    return SearchSpace(nuisance, derive)
