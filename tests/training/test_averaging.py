"""Averages of weights: against numpy, and weights that come back bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tunebook.core.errors import StudyError
from tunebook.training.averaging import Average


def network(seed: int) -> nn.Module:
    generator = torch.Generator().manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    put(model, generator)
    return model


@torch.no_grad()
def put(model: nn.Module, generator: torch.Generator) -> None:
    for tensor in tensors(model):
        tensor.copy_(torch.randn(tensor.shape, generator=generator))


def tensors(model: nn.Module) -> list[torch.Tensor]:
    """What is averaged: parameters, then the running averages of batch norm."""
    return [*model.parameters(), *(b for b in model.buffers() if b.is_floating_point())]


def values(model: nn.Module) -> list[torch.Tensor]:
    return [tensor.detach().clone() for tensor in tensors(model)]


def equal(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    # As bytes: NaN is equal to itself, and 0 is not -0.
    pairs = zip(one, other, strict=True)
    return all(a.view(torch.int32).equal(b.view(torch.int32)) for a, b in pairs)


@given(st.none() | st.sampled_from([0.0, 0.3, 0.9, 0.999]), st.integers(1, 30))
def test_an_average_is_the_weighted_mean_of_the_path(decay: float | None, updates: int) -> None:
    generator = torch.Generator().manual_seed(0)
    model = network(seed=1).double()
    average = Average(model, decay)
    path = []
    for _ in range(updates):
        put(model, generator)
        average.update(model)
        path.append([value.numpy() for value in values(model)])
    counts = [(1.0 if decay is None else decay) ** (updates - 1 - k) for k in range(updates)]
    for place, found in enumerate(average.values):
        expected = np.average([step[place] for step in path], axis=0, weights=counts)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12)


def test_the_initial_weights_count_nothing() -> None:
    for decay in (None, 0.99):
        model = network(seed=0)
        average = Average(model, decay)
        put(model, torch.Generator().manual_seed(1))
        average.update(model)
        assert equal(average.values, values(model))


def test_an_average_before_any_update_is_the_model() -> None:
    model = network(seed=0)
    assert equal(Average(model, 0.9).values, values(model))


def test_the_model_has_the_averaged_weights_inside_and_its_own_afterwards() -> None:
    model = network(seed=0)
    average = Average(model, None)
    average.update(model)
    averaged = [value.clone() for value in average.values]
    put(model, torch.Generator().manual_seed(1))
    with torch.no_grad():
        model[0].bias.copy_(torch.tensor([float("nan"), -0.0, float("inf"), 1e-42]))
    own = values(model)
    with average.in_place_of(model):
        assert equal(values(model), averaged)
    assert equal(values(model), own)
    assert equal(average.values, averaged)


def test_the_model_has_its_own_weights_after_an_error_too() -> None:
    model = network(seed=0)
    average = Average(model, None)
    put(model, torch.Generator().manual_seed(1))
    own = values(model)
    with pytest.raises(ZeroDivisionError), average.in_place_of(model):
        raise ZeroDivisionError
    assert equal(values(model), own)


def test_training_goes_on_as_if_there_were_no_average() -> None:
    def trained(averaged: bool) -> list[torch.Tensor]:
        model, inputs = network(seed=0), torch.arange(12.0).view(4, 3)
        average = Average(model, 0.9)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(4):
            model(inputs).square().sum().backward()
            optimiser.step()
            optimiser.zero_grad()
            if averaged:
                average.update(model)
                with average.in_place_of(model), torch.no_grad():
                    model.eval()(inputs)
                model.train()
        return values(model)

    assert equal(trained(averaged=True), trained(averaged=False))


@pytest.mark.parametrize("decay", [-0.1, 1.0, 2.0])
def test_an_impossible_decay_is_refused(decay: float) -> None:
    with pytest.raises(StudyError, match=f"from 0 up to 1, without 1, got {decay}"):
        Average(network(seed=0), decay)


def test_the_running_averages_of_batch_norm_are_averaged_too() -> None:
    model = nn.BatchNorm1d(2)
    average = Average(model, None)
    means = []
    for value in (1.0, 3.0):
        model(torch.full((4, 2), value) + torch.eye(4, 2))
        average.update(model)
        assert model.running_mean is not None
        means.append(model.running_mean.clone())
    own = model.running_mean.clone()
    with average.in_place_of(model):
        torch.testing.assert_close(model.running_mean, (means[0] + means[1]) / 2)
    assert torch.equal(model.running_mean, own)
    assert model.num_batches_tracked == 2


def test_other_buffers_stay_the_models_own() -> None:
    model = nn.Linear(3, 3)
    model.register_buffer("mask", torch.full((3, 3), -torch.inf).triu(1))
    average = Average(model, 0.9)
    for _ in range(2):
        average.update(model)
    model.mask[0, 0] = 5.0
    with average.in_place_of(model):
        assert model.mask[0].tolist() == [5.0, -torch.inf, -torch.inf]
    assert len(average.values) == 2
