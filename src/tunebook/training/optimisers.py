"""Optimisers as one table of pure update rules, and the torch optimisers that do the same.

A rule maps (parameter, gradient, state, hyperparameters, step) to (parameter, state), with steps
counted from 0. Hyperparameters may be tensors that broadcast against the parameter, so that one
call updates many trials at once; in float64, since `1 - beta2` needs its digits: what multiplies a
parameter is cast to the parameter's own type. The ordinary loop uses `torch.optim`, and tests hold
both equal. `docs/optimisers.md` says where torch's rules differ from the playbook's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from tunebook.core.errors import StudyError, did_you_mean
from tunebook.training.checks import AT_LEAST_0, BELOW_1

Number: TypeAlias = float | Tensor
Hyper: TypeAlias = Mapping[str, Number]
State: TypeAlias = dict[str, Tensor]
Update: TypeAlias = Callable[[Tensor, Tensor, State, Hyper, int], tuple[Tensor, State]]

# The rate at which torch's NAdam moves its momentum towards beta1.
_MOMENTUM_DECAY = 0.004


@dataclass(frozen=True, slots=True)
class Optimiser:
    """An update rule, what its state starts from, its defaults, and torch's twin."""

    update: Update
    slots: Mapping[str, float]
    defaults: Mapping[str, float]
    twin: Callable[..., torch.optim.Optimizer]

    def init(self, parameter: Tensor) -> State:
        """The state before the first step: every slot has the shape of its parameter."""
        return {slot: torch.full_like(parameter, start) for slot, start in self.slots.items()}


def sgd(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    return p - _as(p, h["learning_rate"]) * _with_l2(p, g, h), s


def momentum(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    velocity = _as(p, h["momentum"]) * s["velocity"] + _with_l2(p, g, h)
    return p - _as(p, h["learning_rate"]) * velocity, {"velocity": velocity}


def nesterov(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    gamma, g = _as(p, h["momentum"]), _with_l2(p, g, h)
    velocity = gamma * s["velocity"] + g
    return p - _as(p, h["learning_rate"]) * (gamma * velocity + g), {"velocity": velocity}


def rmsprop(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    g = _with_l2(p, g, h)
    second = _mixed(s["second"], g * g, h["rho"])
    scaled = g / (second.sqrt() + _as(p, h["epsilon"]))
    velocity = _as(p, h["momentum"]) * s["velocity"] + scaled
    return p - _as(p, h["learning_rate"]) * velocity, {"second": second, "velocity": velocity}


def adam(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    g = _with_l2(p, g, h)
    first, second = _mixed(s["first"], g, h["beta1"]), _mixed(s["second"], g * g, h["beta2"])
    rate = _as(p, h["learning_rate"] / (1 - h["beta1"] ** (step + 1)))
    return p - rate * first / _scale(second, h, step), {"first": first, "second": second}


def adamw(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    shrunk = p * _as(p, 1 - h["learning_rate"] * h["weight_decay"])
    return adam(shrunk, g, s, {**h, "weight_decay": 0.0}, step)


def nadam(p: Tensor, g: Tensor, s: State, h: Hyper, step: int) -> tuple[Tensor, State]:
    g = _with_l2(p, g, h)
    first, second = _mixed(s["first"], g, h["beta1"]), _mixed(s["second"], g * g, h["beta2"])
    mu, mu_next = (
        h["beta1"] * (1 - 0.5 * 0.96 ** (t * _MOMENTUM_DECAY)) for t in (step + 1, step + 2)
    )
    product = s["mu_product"] * _as(p, mu)
    own = _as(p, 1 - mu) * g / (1 - product)
    ahead = _as(p, mu_next) * first / (1 - product * _as(p, mu_next))
    moved = _as(p, h["learning_rate"]) * (own + ahead) / _scale(second, h, step)
    return p - moved, {"first": first, "second": second, "mu_product": product}


def _with_l2(p: Tensor, g: Tensor, h: Hyper) -> Tensor:
    return g + _as(p, h["weight_decay"]) * p


def _mixed(old: Tensor, new: Tensor, share: Number) -> Tensor:
    """`share` of the old and the rest of the new."""
    return _as(old, share) * old + _as(old, 1 - share) * new


def _scale(second: Tensor, h: Hyper, step: int) -> Tensor:
    """What Adam and NAdam divide by."""
    corrected = second / _as(second, 1 - h["beta2"] ** (step + 1))
    return corrected.sqrt() + _as(second, h["epsilon"])


def _as(tensor: Tensor, number: Number) -> Number:
    """A factor in the precision of what it multiplies, so that it does not widen the product."""
    return number.to(tensor.dtype) if isinstance(number, Tensor) else number


_DECAY = {"weight_decay": 0.0}
_MOMENTUM = {"momentum": 0.9, **_DECAY}
_ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, **_DECAY}
_RMSPROP = {"rho": 0.99, "momentum": 0.0, "epsilon": 1e-8, **_DECAY}
_MOMENTS = {"first": 0.0, "second": 0.0}
OPTIMISERS: dict[str, Optimiser] = {
    "sgd": Optimiser(sgd, {}, _DECAY, torch.optim.SGD),
    "momentum": Optimiser(momentum, {"velocity": 0.0}, _MOMENTUM, torch.optim.SGD),
    "nesterov": Optimiser(nesterov, {"velocity": 0.0}, _MOMENTUM, torch.optim.SGD),
    "rmsprop": Optimiser(rmsprop, {"second": 0.0, "velocity": 0.0}, _RMSPROP, torch.optim.RMSprop),
    "adam": Optimiser(adam, _MOMENTS, _ADAM, torch.optim.Adam),
    "nadam": Optimiser(nadam, {**_MOMENTS, "mu_product": 1.0}, _ADAM, torch.optim.NAdam),
    "adamw": Optimiser(adamw, _MOMENTS, {**_ADAM, "weight_decay": 0.01}, torch.optim.AdamW),
}
_UNFUSED = ("rmsprop", "nadam")
_SHARES = ("momentum", "rho", "beta1", "beta2")
_TORCH_NAMES = {"learning_rate": "lr", "rho": "alpha", "epsilon": "eps"}


def named(name: str) -> Optimiser:
    """The optimiser of this name."""
    if name not in OPTIMISERS:
        raise StudyError(
            f"no optimiser is named {name!r}{did_you_mean(name, OPTIMISERS)}; "
            f"there are {', '.join(OPTIMISERS)}"
        )
    return OPTIMISERS[name]


def completed(name: str, hyper: Mapping[str, Any]) -> dict[str, float]:
    """The hyperparameters of an optimiser: those given, checked, and defaults for the others.

    >>> completed("momentum", {"learning_rate": 0.1})
    {'momentum': 0.9, 'weight_decay': 0.0, 'learning_rate': 0.1}
    """
    known = named(name).defaults
    if "learning_rate" not in hyper:
        raise StudyError(f"{name} needs a learning rate: add learning_rate", "learning_rate")
    for key in hyper:
        if key != "learning_rate" and key not in known:
            raise StudyError(f"{name} has no {key}{did_you_mean(key, known)}", key)
    given = {
        key: (BELOW_1 if key in _SHARES else AT_LEAST_0)(key, value) for key, value in hyper.items()
    }
    return {**known, **given}


def torch_optimiser(
    name: str,
    parameters: Iterable[Tensor],
    hyper: Mapping[str, Any],
    *,
    foreach: bool | None = None,
    fused: bool | None = None,
) -> torch.optim.Optimizer:
    """Torch's optimiser for the same rule; `hyper` is completed by the defaults.

    Unless told otherwise it is the fused one where torch has it: one pass over the weights instead
    of several, which pays for the gradient norm that the loop computes at every step.
    """
    parameters = list(parameters)
    if fused and name in _UNFUSED:
        raise StudyError(f"torch has no fused {name}; leave fused out, or use foreach", "fused")
    if fused and foreach:
        raise StudyError("an optimiser is either fused or foreach; leave one of them out", "fused")
    h = completed(name, hyper)
    options: dict[str, Any] = {_TORCH_NAMES.get(key, key): value for key, value in h.items()}
    if "beta1" in h:
        options["betas"] = (options.pop("beta1"), options.pop("beta2"))
    if name == "nesterov":
        # Torch refuses Nesterov's rule without momentum, where it is plain descent.
        options["nesterov"] = h["momentum"] > 0
    if foreach is not None:
        options["foreach"] = foreach
    if fused is None and not foreach:
        fused = all(_fusible(parameter) for parameter in parameters)
    if fused is not None and name not in _UNFUSED:
        options["fused"] = fused
    return named(name).twin(parameters, **options)


def _fusible(parameter: Tensor) -> bool:
    """Whether torch's fused kernels take this parameter: whole, real, and on a device they know."""
    whole = not hasattr(parameter, "full_tensor")
    return whole and parameter.is_floating_point() and parameter.device.type in ("cpu", "cuda")
