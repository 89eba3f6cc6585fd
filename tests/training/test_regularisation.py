"""Dropout: masks from its own stream, nothing at evaluation, the same mean."""

from __future__ import annotations

import functools

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tunebook.core.errors import StudyError
from tunebook.training.randomness import Streams
from tunebook.training.regularisation import (
    Dropout,
    begin,
    give_stream,
    mask,
    new_stream,
    same_masks,
)


def with_stream(rate: float, seed: int = 0, rank: int = 0) -> Dropout:
    layer, stream = Dropout(rate), new_stream()
    begin(stream, Streams(seed, rank).seed_of("dropout"))
    give_stream(layer, stream)
    return layer


def test_draws_of_others_do_not_move_the_masks() -> None:
    x = torch.ones(100)
    undisturbed = with_stream(0.5)
    expected = [undisturbed(x), undisturbed(x)]
    layer = with_stream(0.5)
    found = [layer(x)]
    torch.rand(7)
    torch.manual_seed(1234)
    found.append(layer(x))
    assert torch.equal(torch.stack(found), torch.stack(expected))
    assert not torch.equal(expected[0], expected[1])


def test_masks_do_not_move_draws_of_others() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    with_stream(0.5)(torch.ones(100))
    assert torch.equal(torch.rand(3), expected)


def test_ranks_and_seeds_have_masks_of_their_own() -> None:
    x = torch.ones(100)
    masks = [with_stream(0.5, *which)(x) for which in ((0, 0), (0, 1), (1, 0))]
    assert len({tuple(mask.tolist()) for mask in masks}) == 3


def test_every_layer_of_a_model_draws_from_the_same_stream() -> None:
    model = nn.Sequential(Dropout(0.5), nn.Sequential(nn.ReLU(), Dropout(0.2)))
    stream = new_stream()
    assert give_stream(model, stream)
    assert model[0].stream is model[1][1].stream is stream
    assert not give_stream(nn.Sequential(nn.ReLU(), Dropout(0.0)), stream)


def test_golden_masks() -> None:
    """They may never change: runs of earlier versions are repeated by them."""
    stream = new_stream()
    begin(stream, 7)
    drawn = [mask(torch.ones(8), stream, 0.5).int().tolist() for _ in range(2)]
    assert drawn == [[1, 0, 1, 1, 0, 0, 0, 1], [1, 1, 1, 0, 1, 1, 1, 0]]
    assert stream.tolist() == [7, 2]


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_a_compiled_model_draws_the_same_masks_in_one_graph() -> None:
    torch.compiler.reset()
    model = nn.Sequential(Dropout(0.5), Dropout(0.3), nn.Linear(64, 4), Dropout(0.2), Dropout(0.2))
    # Without a compiler of C++: what matters is the graph, which "aot_eager" makes as well.
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    x, stream = torch.ones(16, 64), new_stream()
    give_stream(model, stream)

    def stepped(forward: nn.Module) -> list[torch.Tensor]:
        begin(stream, 3)
        found = []
        for _ in range(2):
            model.zero_grad()
            out = forward(x)
            out.square().sum().backward()
            found += [out.detach(), model[2].weight.grad.clone()]
        return found

    for one, other in zip(stepped(model), stepped(compiled), strict=True):
        torch.testing.assert_close(one, other)
    assert stream.tolist() == [3, 8]


@pytest.mark.parametrize("streamed", [True, False])
def test_a_recomputation_draws_the_same_masks(streamed: bool) -> None:
    blocks = nn.ModuleList(
        nn.Sequential(nn.Linear(8, 8), Dropout(0.5), nn.Linear(8, 8)) for _ in range(2)
    )
    stream = new_stream()
    if streamed:
        give_stream(blocks, stream)

    def once(block: nn.Module, x: torch.Tensor) -> torch.Tensor:
        context = functools.partial(same_masks, block)
        return checkpoint(block, x, use_reentrant=False, context_fn=context)

    def gradients(run) -> list[torch.Tensor]:
        blocks.zero_grad()
        begin(stream, 7)
        torch.manual_seed(0)
        x = torch.linspace(-1, 1, 24).view(3, 8)
        for block in (*blocks, blocks[0]):
            x = run(block, x)
        x.square().sum().backward()
        return [p.grad for p in blocks.parameters() if p.grad is not None]

    expected = gradients(lambda block, x: block(x))
    torch.testing.assert_close(gradients(once), expected)
    assert stream.tolist() == [7, 3 if streamed else 0]


def test_without_a_stream_torchs_own_is_used() -> None:
    torch.manual_seed(0)
    first = Dropout(0.5)(torch.ones(100))
    torch.manual_seed(0)
    assert torch.equal(Dropout(0.5)(torch.ones(100)), first)


def test_nothing_happens_at_evaluation_or_without_a_rate() -> None:
    x = torch.randn(50, generator=torch.Generator().manual_seed(0))
    assert Dropout(0.9).eval()(x) is x
    assert Dropout(0.0)(x) is x


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_values_are_dropped_at_the_rate_and_the_mean_stays(rate: float) -> None:
    count = 100_000
    out = with_stream(rate)(torch.ones(count))
    dropped = (out == 0).double().mean().item()
    # Five standard errors; the mean is that of the kept ones, each worth 1 / (1 - rate).
    error = 5 * (rate * (1 - rate) / count) ** 0.5
    assert abs(dropped - rate) < error
    assert abs(out.double().mean().item() - 1) < error / (1 - rate)
    assert out.unique().tolist() == pytest.approx([0.0, 1 / (1 - rate)])


def test_gradients_pass_where_values_pass() -> None:
    x = torch.ones(100, requires_grad=True)
    out = with_stream(0.5)(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_the_number_format_stays(dtype: torch.dtype) -> None:
    assert with_stream(0.3)(torch.ones(10, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5])
def test_an_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(StudyError, match=f"a dropout rate must be .* without 1, got {rate}"):
        Dropout(rate)


def test_it_shows_its_rate() -> None:
    assert repr(Dropout(0.3)) == "Dropout(rate=0.3)"
