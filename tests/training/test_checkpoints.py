"""Checkpoints: everything comes back bit for bit, the best are kept, nothing is pickled."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from problems_in_torch import Clouds
from tunebook.core.errors import TunebookError
from tunebook.core.objective import Metric
from tunebook.training import checkpoints
from tunebook.training.averaging import Average
from tunebook.training.checkpoints import State
from tunebook.training.distribution import World
from tunebook.training.optimisers import OPTIMISERS, torch_optimiser


def some_state(optimiser: str, seed: int) -> State:
    torch.manual_seed(seed)
    model = Clouds().build({"norm": True})
    made = torch_optimiser(optimiser, model.parameters(), {"learning_rate": 0.01})
    return State(model, made, Average(model, 0.9))


def step(state: State) -> None:
    x = torch.rand(16, 6)
    x += torch.from_numpy(np.random.rand(16, 6)).float() + random.random()
    state.model(x).square().mean().backward()
    state.optimiser.step()
    state.optimiser.zero_grad()
    assert state.average is not None
    state.average.update(state.model)
    state.step += 1


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_loaded_state_goes_on_as_the_saved_one(optimiser: str, tmp_path: Path) -> None:
    state = some_state(optimiser, seed=1)
    for _ in range(3):
        step(state)
    checkpoints.save(tmp_path, *checkpoints.collect(state))
    for _ in range(3):
        step(state)

    loaded = some_state(optimiser, seed=2)
    checkpoints.load(tmp_path, loaded)
    assert loaded.step == 3
    for _ in range(3):
        step(loaded)
    for name, value in state.model.state_dict().items():
        assert torch.equal(value, loaded.model.state_dict()[name]), name
    assert state.average is not None and loaded.average is not None
    assert all(map(torch.equal, state.average.values, loaded.average.values))
    assert state.average.count == loaded.average.count == 6


def test_the_state_of_a_gpu_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = torch.arange(16, dtype=torch.uint8)
    put_back: list[torch.Tensor] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda: drawn)
    monkeypatch.setattr(torch.cuda, "set_rng_state", put_back.append)
    state = some_state("sgd", seed=1)
    checkpoints.save(tmp_path, *checkpoints.collect(state))
    checkpoints.load(tmp_path, state)
    assert [found.tolist() for found in put_back] == [drawn.tolist()]
    # It may go on without one.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    checkpoints.load(tmp_path, state)
    assert len(put_back) == 1


def plain(*layers: nn.Module, average: bool = False) -> State:
    model = nn.Sequential(*layers)
    made = torch_optimiser("sgd", model.parameters(), {"learning_rate": 0.1})
    return State(model, made, Average(model, None) if average else None)


@pytest.mark.parametrize(
    ("changed", "there", "here"),
    [
        (plain(nn.Linear(4, 5)), "of shape (2,)", "of shape (5,)"),
        (plain(nn.Linear(4, 2, bias=False)), "of shape (2,)", "missing"),
        (plain(nn.Linear(4, 2), nn.Linear(2, 2)), "missing", "of shape (2,)"),
    ],
)
def test_a_changed_model_is_told(changed: State, there: str, here: str, tmp_path: Path) -> None:
    checkpoints.save(tmp_path, *checkpoints.collect(plain(nn.Linear(4, 2))))
    before = {name: value.clone() for name, value in changed.model.state_dict().items()}
    with pytest.raises(TunebookError) as caught:
        checkpoints.load(tmp_path, changed)
    name = "1.bias" if there == "missing" else "0.bias"
    assert str(caught.value) == (
        f"model tensor {name!r} is {there} in the checkpoint {tmp_path} but {here} in this run; "
        "go back to the code that wrote it, or begin anew in another study"
    )
    assert all(
        torch.equal(before[name], value) for name, value in changed.model.state_dict().items()
    )


def test_an_average_that_was_not_saved_is_told(tmp_path: Path) -> None:
    checkpoints.save(tmp_path, *checkpoints.collect(plain(nn.Linear(4, 2))))
    with pytest.raises(TunebookError, match="average tensor '0' is missing in the checkpoint"):
        checkpoints.load(tmp_path, plain(nn.Linear(4, 2), average=True))


def test_only_tensors_and_json_are_written(tmp_path: Path) -> None:
    checkpoints.save(tmp_path, *checkpoints.collect(some_state("adam", 0)))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "average.safetensors",
        "model.safetensors",
        "optimiser.safetensors",
        "random-0.safetensors",
        "state.json",
    ]
    json.loads((tmp_path / "state.json").read_text())


def test_tied_weights_can_be_saved(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    model[1].weight = model[0].weight
    made = torch_optimiser("sgd", model.parameters(), {"learning_rate": 0.1})
    state = State(model, made, None)
    checkpoints.save(tmp_path, *checkpoints.collect(state))
    with torch.no_grad():
        model[0].weight.zero_()
    checkpoints.load(tmp_path, state)
    assert model[0].weight.abs().sum() > 0
    assert model[1].weight is model[0].weight


def keep(folder: Path, number: int, value: float, metric: Metric, most: int = 1) -> None:
    if checkpoints.is_among_best(folder, value, metric, most):
        weights = {"w": torch.full((2,), float(number))}
        checkpoints.keep_best(folder, weights, number, value, metric, most)


@pytest.mark.parametrize(("better", "expected"), [("lower", {1, 3}), ("higher", {2, 4})])
def test_the_best_are_kept(better: str, expected: set[int], tmp_path: Path) -> None:
    metric = Metric("valid/error", better)  # type: ignore[arg-type]
    for number, value in enumerate((0.1, 0.5, 0.2, 0.4), start=1):
        keep(tmp_path, number, value, metric, most=2)
    assert {step for _, step, _ in checkpoints.best_of(tmp_path)} == expected


def test_a_damaged_best_is_no_best(tmp_path: Path) -> None:
    metric = Metric("error")
    keep(tmp_path, 1, 0.1, metric)
    (tmp_path / "best-1" / "model.safetensors").write_bytes(b"")
    assert checkpoints.best_of(tmp_path) == []
    checkpoints.remove_damaged(tmp_path)
    keep(tmp_path, 2, 0.9, metric)
    checkpoints.remove_damaged(tmp_path)
    assert [step for _, step, _ in checkpoints.best_of(tmp_path)] == [2]


def test_keeping_none_and_nan(tmp_path: Path) -> None:
    metric = Metric("error")
    keep(tmp_path, 1, 0.1, metric, most=0)
    assert checkpoints.best_of(tmp_path) == []
    keep(tmp_path, 2, 0.5, metric)
    keep(tmp_path, 3, float("nan"), metric)
    assert [step for _, step, _ in checkpoints.best_of(tmp_path)] == [2]


@pytest.mark.parametrize("rank", [0, 1])
def test_only_the_leading_rank_copies_tensors(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "gathered", lambda self, value: [value] * self.size)
    state = some_state("adam", 0)
    step(state)
    tensors, _ = checkpoints.collect(state, World(rank, size=2))
    counts = {name: len(tensors[name]) for name in ("model", "optimiser", "average")}
    assert all(counts.values()) if rank == 0 else not any(counts.values())
