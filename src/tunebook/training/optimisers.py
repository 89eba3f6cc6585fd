"""Optimisers as one table of pure update rules, and the torch optimisers that do the same.

A rule maps (parameter, gradient, state, hyperparameters, step) to (parameter, state).
Hyperparameters may be tensors that broadcast against the parameter, so that one call can update
many trials at once. The ordinary loop uses `torch.optim`; tests hold both equal.
`docs/optimisers.md` says where torch's rule differs from the playbook's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from tunebook.core.errors import StudyError, did_you_mean

Number: TypeAlias = float | Tensor
Hyper: TypeAlias = Mapping[str, Number]
State: TypeAlias = dict[str, Tensor]
Update: TypeAlias = Callable[[Tensor, Tensor, State, Hyper, int], tuple[Tensor, State]]

# The rate at which torch's NAdam moves its momentum towards beta1.
_MOMENTUM_DECAY = 0.004


@dataclass(frozen=True, slots=True)
class Optimiser:
    """An update rule, the state it keeps for each parameter, its defaults, and torch's twin."""

    update: Update
    slots: tuple[str, ...]
    defaults: Mapping[str, float]
    twin: Callable[..., torch.optim.Optimizer]

    def init(self, parameter: Tensor) -> State:
        return {slot: torch.zeros_like(parameter) for slot in self.slots}


def sgd(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    return p - h["learning_rate"] * _with_l2(p, g, h), s


def momentum(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    velocity = h["momentum"] * s["velocity"] + _with_l2(p, g, h)
    return p - h["learning_rate"] * velocity, {"velocity": velocity}


def nesterov(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    g = _with_l2(p, g, h)
    velocity = h["momentum"] * s["velocity"] + g
    return p - h["learning_rate"] * (g + h["momentum"] * velocity), {"velocity": velocity}


def rmsprop(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    g = _with_l2(p, g, h)
    second = h["rho"] * s["second"] + (1 - h["rho"]) * g * g
    velocity = h["momentum"] * s["velocity"] + g / (second.sqrt() + h["epsilon"])
    return p - h["learning_rate"] * velocity, {"second": second, "velocity": velocity}


def adam(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    return _adam(p, _with_l2(p, g, h), s, h, step)


def adamw(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    return _adam(p * (1 - h["learning_rate"] * h["weight_decay"]), g, s, h, step)


def nadam(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    g = _with_l2(p, g, h)
    first, second = _moments(g, s, h)
    beta1, t = h["beta1"], step + 1
    mu = beta1 * (1 - 0.5 * 0.96 ** (t * _MOMENTUM_DECAY))
    mu_next = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * _MOMENTUM_DECAY))
    product = (s["mu_product"] if step else torch.ones_like(p)) * mu
    scale = (second / (1 - h["beta2"] ** t)).sqrt() + h["epsilon"]
    own = (1 - mu) / (1 - product) * g / scale
    ahead = mu_next / (1 - product * mu_next) * first / scale
    state = {"first": first, "second": second, "mu_product": product}
    return p - h["learning_rate"] * (own + ahead), state


def _adam(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    first, second = _moments(g, s, h)
    t = step + 1
    scale = (second / (1 - h["beta2"] ** t)).sqrt() + h["epsilon"]
    moved = h["learning_rate"] / (1 - h["beta1"] ** t) * first / scale
    return p - moved, {"first": first, "second": second}


def _moments(g: Tensor, s: State, h: Hyper) -> tuple[Tensor, Tensor]:
    first = h["beta1"] * s["first"] + (1 - h["beta1"]) * g
    second = h["beta2"] * s["second"] + (1 - h["beta2"]) * g * g
    return first, second


def _with_l2(p: Tensor, g: Tensor, h: Hyper) -> Tensor:
    return g + h["weight_decay"] * p


_DECAY = {"weight_decay": 0.0}
_BETAS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
OPTIMISERS: dict[str, Optimiser] = {
    "sgd": Optimiser(sgd, (), _DECAY, torch.optim.SGD),
    "momentum": Optimiser(momentum, ("velocity",), {"momentum": 0.9, **_DECAY}, torch.optim.SGD),
    "nesterov": Optimiser(nesterov, ("velocity",), {"momentum": 0.9, **_DECAY}, torch.optim.SGD),
    "rmsprop": Optimiser(
        rmsprop,
        ("second", "velocity"),
        {"rho": 0.99, "momentum": 0.0, "epsilon": 1e-8, **_DECAY},
        torch.optim.RMSprop,
    ),
    "adam": Optimiser(adam, ("first", "second"), {**_BETAS, **_DECAY}, torch.optim.Adam),
    "nadam": Optimiser(
        nadam, ("first", "second", "mu_product"), {**_BETAS, **_DECAY}, torch.optim.NAdam
    ),
    "adamw": Optimiser(
        adamw, ("first", "second"), {**_BETAS, "weight_decay": 0.01}, torch.optim.AdamW
    ),
}


def named(name: str) -> Optimiser:
    """The optimiser of this name."""
    if name not in OPTIMISERS:
        raise StudyError(
            f"no optimiser is named {name!r}{did_you_mean(name, OPTIMISERS)}; "
            f"there are {', '.join(OPTIMISERS)}"
        )
    return OPTIMISERS[name]


def torch_optimiser(
    name: str,
    parameters: Iterable[Tensor],
    hyper: Mapping[str, float],
    *,
    foreach: bool | None = None,
    fused: bool | None = None,
) -> torch.optim.Optimizer:
    """Torch's optimiser for the same rule; `hyper` is completed by the defaults."""
    found = named(name)
    h = {**found.defaults, **hyper}
    options: dict[str, Any] = {"lr": h["learning_rate"], "weight_decay": h["weight_decay"]}
    if "momentum" in found.defaults:
        options["momentum"] = h["momentum"]
    if "beta1" in found.defaults:
        options["betas"] = (h["beta1"], h["beta2"])
    if "epsilon" in found.defaults:
        options["eps"] = h["epsilon"]
    if "rho" in found.defaults:
        options["alpha"] = h["rho"]
    if name == "nesterov":
        options["nesterov"] = True
    if foreach is not None:
        options["foreach"] = foreach
    if fused is not None:
        if name in ("rmsprop", "nadam"):
            raise StudyError(f"torch has no fused {name}; leave fused out, or use foreach")
        options["fused"] = fused
    return found.twin(parameters, **options)
