"""The table of update rules against torch's optimisers and against the playbook's rules in numpy.

The playbook's rules are written out here as they stand in it. Where torch's rule is another, a test
says by how much; `docs/optimisers.md` says the same in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tunebook.core.errors import StudyError
from tunebook.training.optimisers import OPTIMISERS, completed, named, torch_optimiser

Array: TypeAlias = NDArray[np.float64]

STEPS = 14
SHAPE = (3, 4)
CASES: list[tuple[str, dict[str, float]]] = [
    ("sgd", {}),
    ("sgd", {"weight_decay": 0.1}),
    ("momentum", {"momentum": 0.9}),
    ("momentum", {"momentum": 0.3, "weight_decay": 0.1}),
    ("nesterov", {"momentum": 0.95}),
    ("nesterov", {"momentum": 0.0}),
    ("nesterov", {"momentum": 0.5, "weight_decay": 0.1}),
    ("rmsprop", {}),
    ("rmsprop", {"rho": 0.7, "momentum": 0.8, "epsilon": 1e-3, "weight_decay": 0.1}),
    ("adam", {}),
    ("adam", {"beta1": 0.0, "beta2": 0.5, "epsilon": 0.1}),
    ("adam", {"beta1": 0.7, "beta2": 0.95, "weight_decay": 0.1}),
    ("nadam", {}),
    ("nadam", {"beta1": 0.7, "beta2": 0.95, "epsilon": 0.1, "weight_decay": 0.1}),
    ("adamw", {}),
    ("adamw", {"beta1": 0.7, "beta2": 0.95, "epsilon": 0.1, "weight_decay": 0.5}),
]
CONSTANT = [0.05] * STEPS
# As a schedule would set them.
CHANGING = [0.1 * (1 - step / STEPS) for step in range(STEPS)]


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    """NAdam keeps part of its state in torch's default type."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def draws(count: int, shape: tuple[int, ...] = SHAPE) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(count)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(count)]


START, *GRADIENTS = draws(STEPS + 1)


def by_table(
    name: str, hyper: Mapping[str, Any], rates: Sequence[float] = CONSTANT, **start: float
) -> list[Array]:
    """Where the table's rule goes; `start` replaces initial values of its state."""
    rule = OPTIMISERS[name]
    parameter, state = START.clone(), rule.init(START)
    state |= {slot: torch.full_like(START, value) for slot, value in start.items()}
    path = []
    for step, (gradient, rate) in enumerate(zip(GRADIENTS, rates, strict=True)):
        h = {**rule.defaults, **hyper, "learning_rate": rate}
        parameter, state = rule.update(parameter, gradient, state, h, step)
        path.append(parameter.numpy())
    return path


def by_torch(
    make: Callable[[list[torch.Tensor]], torch.optim.Optimizer], rates: Sequence[float] = CONSTANT
) -> list[Array]:
    parameter = torch.nn.Parameter(START.clone())
    optimiser = make([parameter])
    path = []
    for gradient, rate in zip(GRADIENTS, rates, strict=True):
        for group in optimiser.param_groups:
            group["lr"] = rate
        parameter.grad = gradient.clone()
        optimiser.step()
        path.append(parameter.detach().clone().numpy())
    return path


def by_playbook(rule: Callable[[], Callable[[Array, int], Array]]) -> list[Array]:
    """Where a rule of the playbook goes: it maps (gradient, t) to a step, with t from 1."""
    theta, moved = START.numpy().copy(), rule()
    path = []
    for t, gradient in enumerate(GRADIENTS, 1):
        theta = theta - moved(gradient.numpy(), t)
        path.append(theta)
    return path


def same(one: Sequence[Array], other: Sequence[Array]) -> None:
    assert len(one) == len(other) == STEPS
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


# The table and torch.


@pytest.mark.parametrize("rates", [CONSTANT, CHANGING], ids=["constant", "changing"])
@pytest.mark.parametrize(("name", "hyper"), CASES)
def test_the_table_does_what_torch_does(
    name: str, hyper: dict[str, float], rates: list[float]
) -> None:
    given = {**hyper, "learning_rate": 0.05}
    twin = by_torch(lambda parameters: torch_optimiser(name, parameters, given), rates)
    same(by_table(name, hyper, rates), twin)


@pytest.mark.parametrize(
    ("means", "name"),
    [("foreach", name) for name in OPTIMISERS]
    + [("fused", name) for name in OPTIMISERS if name not in ("rmsprop", "nadam")],
)
def test_torchs_faster_means_do_the_same(means: str, name: str) -> None:
    given = {"learning_rate": 0.05, "weight_decay": 0.1}
    fast = by_torch(lambda p: torch_optimiser(name, p, given, **{means: True}))
    same(by_table(name, given), fast)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_defaults_are_torchs_own(name: str) -> None:
    own = named(name).twin([START.clone()], lr=0.1).defaults
    ours = torch_optimiser(name, [START.clone()], {"learning_rate": 0.1}).defaults
    # Plain momentum has no default of torch's, and Nesterov's rule is a switch there.
    chosen = ("fused", *(("momentum", "nesterov") if name in ("momentum", "nesterov") else ()))
    assert {k: v for k, v in ours.items() if k not in chosen} == {
        k: v for k, v in own.items() if k not in chosen
    }


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_rule_changes_nothing_in_place(name: str) -> None:
    rule = OPTIMISERS[name]
    state = {slot: torch.rand(SHAPE) for slot in rule.slots}
    inputs = [START.clone(), GRADIENTS[0].clone(), *(value.clone() for value in state.values())]
    rule.update(START, GRADIENTS[0], state, {**rule.defaults, "learning_rate": 0.1}, 3)
    for before, after in zip(inputs, [START, GRADIENTS[0], *state.values()], strict=True):
        assert torch.equal(before, after)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_stacked_trials_are_separate_trials(name: str, dtype: torch.dtype) -> None:
    rule = OPTIMISERS[name]
    keys = ["learning_rate", *rule.defaults]
    trials = [{key: (0.3 + 0.2 * i) / (2 + j) for j, key in enumerate(keys)} for i in range(3)]
    starts, *gradients = (draw.to(dtype) for draw in draws(6, (len(trials), *SHAPE)))
    stacked = {k: torch.tensor([t[k] for t in trials]).view(-1, 1, 1) for k in keys}

    together, state = starts, rule.init(starts)
    alone = list(starts)
    states = [rule.init(start) for start in starts]
    for step, gradient in enumerate(gradients):
        together, state = rule.update(together, gradient, state, stacked, step)
        for i, trial in enumerate(trials):
            alone[i], states[i] = rule.update(alone[i], gradient[i], states[i], trial, step)

    close = 1e-6 if dtype == torch.float32 else 1e-13
    torch.testing.assert_close(together, torch.stack(alone), rtol=close, atol=close)
    assert {together.dtype, *(value.dtype for value in state.values())} == {dtype}
    for slot, value in state.items():
        separate = torch.stack([own[slot] for own in states])
        torch.testing.assert_close(value, separate, rtol=close, atol=close)


# The playbook's rules.


def test_sgd_is_the_playbooks() -> None:
    same(by_table("sgd", {}), by_playbook(lambda: lambda g, t: 0.05 * g))


def test_momentum_is_the_playbooks() -> None:
    def rule() -> Callable[[Array, int], Array]:
        v = np.zeros(SHAPE)

        def moved(g: Array, t: int) -> Array:
            nonlocal v
            v = 0.8 * v + g
            return 0.05 * v

        return moved

    same(by_table("momentum", {"momentum": 0.8}), by_playbook(rule))


def test_nesterov_is_the_playbooks() -> None:
    def rule() -> Callable[[Array, int], Array]:
        v = np.zeros(SHAPE)

        def moved(g: Array, t: int) -> Array:
            nonlocal v
            v = 0.8 * v + g
            return 0.05 * (0.8 * v + g)

        return moved

    same(by_table("nesterov", {"momentum": 0.8}), by_playbook(rule))


def playbook_rmsprop(
    epsilon: float, rates: Sequence[float] = CONSTANT, rho: float = 0.9, gamma: float = 0.5
) -> list[Array]:
    def rule() -> Callable[[Array, int], Array]:
        v, m = np.ones(SHAPE), np.zeros(SHAPE)

        def moved(g: Array, t: int) -> Array:
            nonlocal v, m
            v = rho * v + (1 - rho) * g**2
            m = gamma * m + rates[t - 1] / np.sqrt(v + epsilon) * g
            return m

        return moved

    return by_playbook(rule)


def test_rmsprop_without_epsilon_is_the_playbooks_once_it_starts_from_one() -> None:
    hyper = {"rho": 0.9, "momentum": 0.5, "epsilon": 0.0}
    same(by_table("rmsprop", hyper, second=1.0), playbook_rmsprop(epsilon=0.0))


def test_rmsprops_start_is_forgotten_at_the_rate_rho() -> None:
    """From the same gradients, the playbook's second moment is torch's plus rho**t."""
    rule, hyper = OPTIMISERS["rmsprop"], {**OPTIMISERS["rmsprop"].defaults, "learning_rate": 0.05}
    torchs = rule.init(START)
    playbooks = {**torchs, "second": torch.ones(SHAPE)}
    for step, gradient in enumerate(GRADIENTS):
        _, torchs = rule.update(START, gradient, torchs, hyper, step)
        _, playbooks = rule.update(START, gradient, playbooks, hyper, step)
    difference = playbooks["second"] - torchs["second"]
    torch.testing.assert_close(difference, torch.full(SHAPE, 0.99**STEPS), rtol=0, atol=1e-14)


def test_rmsprops_epsilon_is_the_root_of_the_playbooks_within_a_factor() -> None:
    """sqrt(v + e) <= sqrt(v) + sqrt(e) <= sqrt(2) sqrt(v + e), for one step without momentum."""
    for epsilon in (1e-6, 1e-2, 1.0, 100.0):
        hyper = {"rho": 0.9, "epsilon": math.sqrt(epsilon)}
        torchs = by_table("rmsprop", hyper, second=1.0)[0] - START.numpy()
        playbooks = playbook_rmsprop(epsilon, gamma=0.0)[0] - START.numpy()
        ratio = torchs / playbooks
        assert (ratio <= 1 + 1e-12).all()
        assert (ratio >= 1 / math.sqrt(2) - 1e-12).all()


def test_rmsprops_momentum_does_not_keep_past_rates_as_the_playbooks_does() -> None:
    hyper = {"rho": 0.9, "momentum": 0.5, "epsilon": 0.0}
    torchs = by_table("rmsprop", hyper, CHANGING, second=1.0)
    playbooks = playbook_rmsprop(epsilon=0.0, rates=CHANGING)
    # While the rate falls, what moves by past rates moves further.
    assert not np.allclose(torchs, playbooks, rtol=1e-3)
    v, steps, path = np.ones(SHAPE), [], []
    theta = START.numpy()
    for t, gradient in enumerate(GRADIENTS):
        v = 0.9 * v + 0.1 * gradient.numpy() ** 2
        steps.append(gradient.numpy() / np.sqrt(v))
        theta = theta - CHANGING[t] * sum(0.5 ** (t - k) * past for k, past in enumerate(steps))
        path.append(theta)
    same(torchs, path)


def playbook_adam(
    epsilon: Callable[[int], float],
    nesterov: bool = False,
    first_factor: Callable[[int], float] = lambda t: 1.0,
    beta1: float = 0.8,
    beta2: float = 0.9,
) -> list[Array]:
    """Adam and NAdam of the playbook; `epsilon` of t, and a factor on the first moment."""

    def rule() -> Callable[[Array, int], Array]:
        m, v = np.zeros(SHAPE), np.zeros(SHAPE)

        def moved(g: Array, t: int) -> Array:
            nonlocal m, v
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g**2
            b = np.sqrt(1 - beta2**t) / (1 - beta1**t)
            top = beta1 * first_factor(t) * m + (1 - beta1) * g if nesterov else m
            return 0.05 * top / (np.sqrt(v) + epsilon(t)) * b

        return moved

    return by_playbook(rule)


BETAS = {"beta1": 0.8, "beta2": 0.9}


def test_adam_without_epsilon_is_the_playbooks() -> None:
    same(by_table("adam", {**BETAS, "epsilon": 0.0}), playbook_adam(lambda t: 0.0))


@pytest.mark.parametrize("epsilon", [1e-8, 1e-2, 1.0])
def test_adams_epsilon_is_the_playbooks_times_the_bias_correction(epsilon: float) -> None:
    torchs = by_table("adam", {**BETAS, "epsilon": epsilon})
    same(torchs, playbook_adam(lambda t: epsilon * math.sqrt(1 - 0.9**t)))


@pytest.mark.parametrize("epsilon", [1e-8, 1e-2, 1.0])
def test_with_one_epsilon_the_playbooks_adam_steps_at_most_the_bias_correction_shorter(
    epsilon: float,
) -> None:
    torchs = by_table("adam", {**BETAS, "epsilon": epsilon})[0] - START.numpy()
    ratio = (playbook_adam(lambda t: epsilon)[0] - START.numpy()) / torchs
    assert (ratio <= 1 + 1e-12).all()
    assert (ratio >= math.sqrt(1 - 0.9) - 1e-12).all()


def test_adamw_is_adam_beside_a_decay_of_its_own() -> None:
    decayed = by_table("adamw", {**BETAS, "weight_decay": 0.2, "epsilon": 0.0})
    theta, path = START.numpy(), []
    plain = playbook_adam(lambda t: 0.0)
    for before, after in zip([START.numpy(), *plain], plain, strict=False):
        theta = theta * (1 - 0.05 * 0.2) + (after - before)
        path.append(theta)
    same(decayed, path)


def test_nadam_with_a_settled_momentum_is_the_playbooks_but_for_one_correction() -> None:
    """Torch corrects the first moment for one step more, and places epsilon as in Adam."""
    settled = by_torch(
        lambda p: torch.optim.NAdam(p, betas=(0.8, 0.9), eps=1e-3, momentum_decay=1e9)
    )
    playbooks = playbook_adam(
        lambda t: 1e-3 * math.sqrt(1 - 0.9**t),
        nesterov=True,
        first_factor=lambda t: (1 - 0.8**t) / (1 - 0.8 ** (t + 1)),
    )
    same(settled, playbooks)


def test_nadams_momentum_grows_from_half_of_beta1() -> None:
    """As torch has it by default: beta1 (1 - 0.96**(0.004 t) / 2) in place of beta1."""

    def rule() -> Callable[[Array, int], Array]:
        m, v = np.zeros(SHAPE), np.zeros(SHAPE)

        def mu(t: int) -> float:
            return 0.8 * (1 - 0.96 ** (0.004 * t) / 2)

        def moved(g: Array, t: int) -> Array:
            nonlocal m, v
            m = 0.8 * m + 0.2 * g
            v = 0.9 * v + 0.1 * g**2
            product = math.prod(mu(k) for k in range(1, t + 1))
            top = mu(t + 1) * m / (1 - product * mu(t + 1)) + (1 - mu(t)) * g / (1 - product)
            return 0.05 * top / (np.sqrt(v / (1 - 0.9**t)) + 1e-3)

        return moved

    same(by_table("nadam", {**BETAS, "epsilon": 1e-3}), by_playbook(rule))


# What is refused.


def test_a_misspelt_optimiser_is_refused() -> None:
    with pytest.raises(StudyError, match="no optimiser is named 'adma'; did you mean 'adam'"):
        named("adma")


@pytest.mark.parametrize(
    ("name", "hyper", "text"),
    [
        ("sgd", {}, "sgd needs a learning rate: add learning_rate"),
        ("adam", {"learning_rate": 0.1, "beta3": 0.9}, "adam has no beta3; did you mean 'beta"),
        ("sgd", {"learning_rate": 0.1, "momentum": 0.9}, "sgd has no momentum"),
        ("adam", {"learning_rate": 0.1, "beta1": 1.0}, "beta1 must be a number from 0 up to 1, wi"),
        ("rmsprop", {"learning_rate": 0.1, "rho": -0.1}, "rho must be .* without 1, got -0.1"),
        ("adam", {"learning_rate": 0.1, "epsilon": -1}, "epsilon must be .* at least 0, got -1"),
        ("sgd", {"learning_rate": "fast"}, "learning_rate must be a number .*, got 'fast'"),
        ("sgd", {"learning_rate": True}, "learning_rate must be a number .*, got True"),
        ("sgd", {"learning_rate": math.nan}, "learning_rate must be a number .*, got nan"),
    ],
)
def test_bad_hyperparameters_are_refused(name: str, hyper: dict[str, Any], text: str) -> None:
    with pytest.raises(StudyError, match=text):
        completed(name, hyper)


def test_what_torch_cannot_do_is_refused() -> None:
    with pytest.raises(StudyError, match="torch has no fused nadam; leave fused out"):
        torch_optimiser("nadam", [START], {"learning_rate": 0.1}, fused=True)
    with pytest.raises(StudyError, match="either fused or foreach; leave one of them out"):
        torch_optimiser("adam", [START], {"learning_rate": 0.1}, fused=True, foreach=True)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_fused_kernel_is_taken_where_torch_has_one(name: str) -> None:
    def fused(tensor: torch.Tensor, **options: Any) -> bool:
        made = torch_optimiser(name, [tensor], {"learning_rate": 0.1}, **options)
        return bool(made.defaults.get("fused"))

    assert fused(START.clone()) == (name not in ("rmsprop", "nadam"))
    assert not fused(START.clone(), foreach=True)
    assert not fused(START.clone(), fused=False)
    # No kernel knows this device: the plain loop works everywhere.
    assert not fused(START.to("meta"))


def test_refusing_torchs_fused_kernels_is_always_possible() -> None:
    for name in OPTIMISERS:
        assert torch_optimiser(name, [START.clone()], {"learning_rate": 0.1}, fused=False)


def test_the_page_on_optimisers_has_all_of_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "optimisers.md").read_text()
    for name in OPTIMISERS:
        assert f"`{name}`" in page
