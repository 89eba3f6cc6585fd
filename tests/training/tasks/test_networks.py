"""The small networks: shapes, sizes, and that their options do what they say."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from tunebook.core.errors import StudyError
from tunebook.core.space import Config
from tunebook.training.normalisation import GhostBatchNorm
from tunebook.training.regularisation import Dropout
from tunebook.training.tasks.networks import (
    NORMS,
    Place,
    ResidualBlock,
    image_cnn,
    mlp,
    residual,
    signal_network,
)

NONE, BATCH, LAYER = NORMS["none"], NORMS["batch"], NORMS["layer"]


def kinds(model: nn.Module) -> set[type[nn.Module]]:
    return {type(module) for module in model.modules()}


@pytest.mark.parametrize(
    ("params", "parameters"),
    [
        ({"model": "mlp"}, 40 * 100 + 100 + 100 * 100 + 100 + 100 * 10 + 10),
        ({"model": "mlp", "width": 8, "depth": 1}, 40 * 8 + 8 + 8 * 10 + 10),
        ({"model": "mlp", "width": 8, "depth": 1, "norm": "layer"}, 40 * 8 + 8 + 16 + 8 * 10 + 10),
        ({}, 24 * 5 + 24 + 2 * (24 * 24 * 3 + 24) + 24 * 5 * 10 + 10),
        ({"width": 2, "norm": "batch"}, 2 * 5 + 2 + 2 * (2 * 2 * 3 + 2) + 3 * 4 + 2 * 5 * 10 + 10),
        (
            {"model": "residual", "width": 8, "depth": 3},
            40 * 8 + 8 + 3 * 2 * (8 * 8 + 8) + 8 * 10 + 10,
        ),
    ],
)
def test_sizes_of_networks_for_signals(params: Config, parameters: int) -> None:
    model = signal_network(params, length=40, classes=10)
    assert parameters_to_vector(model.parameters()).numel() == parameters
    assert model(torch.randn(3, 40)).shape == (3, 10)


@pytest.mark.parametrize("length", [11, 40, 41, 64])
def test_the_cnn_takes_signals_of_any_length(length: int) -> None:
    assert signal_network({}, length, 7)(torch.randn(2, length)).shape == (2, 7)


@pytest.mark.parametrize(("side", "features"), [(28, 49), (8, 4), (9, 4)])
def test_size_of_the_network_for_images(side: int, features: int) -> None:
    model = image_cnn(side, 4, 10, NONE, 0.0)
    weights = 4 * 9 + 4 + 8 * 4 * 9 + 8 + 8 * features * 10 + 10
    assert parameters_to_vector(model.parameters()).numel() == weights
    assert model(torch.randn(3, 1, side, side)).shape == (3, 10)


def test_normalisations_are_the_ones_named() -> None:
    ghosts = {
        name: [m.ghost for m in NORMS[name](8).modules() if isinstance(m, GhostBatchNorm)]
        for name in NORMS
    }
    assert ghosts == {"none": [], "batch": [2**30], "ghost": [64], "layer": []}
    x = torch.randn(5, 8) * 3 + 2
    assert torch.equal(NONE(8)(x), x)
    torch.testing.assert_close(LAYER(8)(x), nn.functional.layer_norm(x, (8,)))
    torch.testing.assert_close(BATCH(8)(x), nn.functional.batch_norm(x, None, None, training=True))


@pytest.mark.parametrize("model", ["mlp", "cnn", "residual"])
def test_dropout_acts_in_training_alone(model: str) -> None:
    network = signal_network({"model": model, "dropout": 0.5}, 40, 10)
    assert Dropout in kinds(network)
    x = torch.randn(4, 40)
    assert not torch.equal(network(x), network(x))
    network.eval()
    assert torch.equal(network(x), network(x))


def test_where_the_norm_of_a_residual_block_stands() -> None:
    inside, outside = (ResidualBlock(8, LAYER, place, 0.0) for place in ("inside", "outside"))
    outside.load_state_dict(inside.state_dict())
    x = torch.randn(5, 8) * 3 + 2

    def norm(y: Tensor) -> Tensor:
        return nn.functional.layer_norm(y, (8,))

    torch.testing.assert_close(inside(x), x + inside.body(norm(x)))
    torch.testing.assert_close(outside(x), norm(x + inside.body(x)))


@pytest.mark.parametrize(("place", "grows"), [("inside", True), ("outside", False)])
def test_only_a_norm_outside_holds_the_signal_back(place: Place, grows: bool) -> None:
    """With the norm inside, the input passes every block untouched; outside, each rescales it."""
    network = residual(40, 16, 6, 10, LAYER, place, 0.0)
    trunk = nn.Sequential(*list(network)[:-2])
    x = torch.randn(4, 40)
    ratio = trunk(100 * x).std() / trunk(x).std()
    assert (ratio > 10).item() is grows


def test_a_network_without_norm_is_the_same_in_both_places() -> None:
    torch.manual_seed(0)
    inside = residual(40, 8, 2, 10, NONE, "inside", 0.0)
    outside = residual(40, 8, 2, 10, NONE, "outside", 0.0)
    outside.load_state_dict(inside.state_dict())
    x = torch.randn(3, 40)
    assert torch.equal(inside(x), outside(x))


def test_depth_is_the_number_of_hidden_layers() -> None:
    linear = [m for m in mlp(4, 8, 3, 2, NONE, 0.0) if isinstance(m, nn.Linear)]
    assert [(m.in_features, m.out_features) for m in linear] == [(4, 8), (8, 8), (8, 8), (8, 2)]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"model": "cn"}, "model must be mlp, cnn or residual, got 'cn'; did you mean 'cnn'"),
        ({"norm": "group"}, "norm must be none, batch, ghost or layer, got 'group'"),
        ({"model": "residual", "norm_place": "before"}, "norm_place must be inside or outside"),
        ({"width": 0}, "width must be a whole number of at least 1, got 0"),
        ({"model": "mlp", "depth": 1.5}, "depth must be a whole number of at least 1, got 1.5"),
        ({"dropout": 1.0}, "dropout must be a number from 0 up to 1, without 1, got 1.0"),
    ],
)
def test_hostile_parameters(params: Config, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        signal_network(params, 40, 10)
