"""Ghost batch norm: torch's batch norm on each part, and running averages that ranks share."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from tunebook.core.errors import StudyError
from tunebook.training.normalisation import (
    GhostBatchNorm,
    number_of_parts,
    running_averages,
    sync_running_averages,
)

FEATURES = 5
INPUTS = {"features": (), "signals": (7,), "images": (3, 4)}
# Sizes of a batch with the parts that ghost batches of 16 make of it.
PARTS = {32: [16, 16], 16: [16], 43: [15, 14, 14], 24: [24], 6: [6]}


def inputs(examples: int, rest: tuple[int, ...] = (), seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(examples, FEATURES, *rest, generator=generator) + 3


def layers(ghost: int, rest: tuple[int, ...] = ()) -> tuple[GhostBatchNorm, nn.Module]:
    """A ghost batch norm, and torch's batch norm with the same weights."""
    own = GhostBatchNorm(FEATURES, ghost=ghost)
    torchs = nn.BatchNorm2d(FEATURES) if len(rest) == 2 else nn.BatchNorm1d(FEATURES)
    with torch.no_grad():
        for layer in (own, torchs):
            layer.weight.copy_(torch.linspace(0.5, 2, FEATURES))
            layer.bias.copy_(torch.linspace(-1, 1, FEATURES))
    return own, torchs


@pytest.mark.parametrize("rest", INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("examples", PARTS)
def test_each_part_is_normalised_by_itself(examples: int, rest: tuple[int, ...]) -> None:
    own, torchs = layers(16, rest)
    x, again = (inputs(examples, rest).requires_grad_() for _ in range(2))
    found = own(x)
    expected = torch.cat([torchs(part) for part in again.split(PARTS[examples])])
    torch.testing.assert_close(found, expected)

    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(x.grad, again.grad)
    torch.testing.assert_close(own.weight.grad, torchs.weight.grad)
    torch.testing.assert_close(own.bias.grad, torchs.bias.grad)


@pytest.mark.parametrize("rest", INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("ghost", [16, 64, 2**30])
def test_a_ghost_batch_as_large_as_the_batch_is_ordinary_batch_norm(
    ghost: int, rest: tuple[int, ...]
) -> None:
    own, torchs = layers(ghost, rest)
    for step in range(4):
        x = inputs(16, rest, seed=step)
        torch.testing.assert_close(own(x), torchs(x))
    torch.testing.assert_close(own.running_mean, torchs.running_mean)
    torch.testing.assert_close(own.running_var, torchs.running_var)
    x = inputs(3, rest, seed=9)
    torch.testing.assert_close(own.eval()(x), torchs.eval()(x))


def test_running_averages_move_once_a_step_by_the_mean_of_the_parts() -> None:
    own, x = GhostBatchNorm(FEATURES, ghost=16, momentum=0.3), inputs(43)
    own(x)
    parts = x.split(PARTS[43])
    mean = torch.stack([part.mean(0) for part in parts]).mean(0)
    variance = torch.stack([part.var(0) for part in parts]).mean(0)
    torch.testing.assert_close(own.running_mean, 0.3 * mean)
    torch.testing.assert_close(own.running_var, 0.7 + 0.3 * variance)


def test_evaluation_moves_nothing_and_sees_each_example_alone() -> None:
    own = GhostBatchNorm(FEATURES, ghost=16)
    own(inputs(32))
    own.eval()
    before = {name: value.clone() for name, value in own.state_dict().items()}
    x = inputs(8, seed=1)
    torch.testing.assert_close(own(x)[2:3], own(x[2:3]))
    assert all(torch.equal(before[name], value) for name, value in own.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_goes_through_and_statistics_stay_in_float32(dtype: torch.dtype) -> None:
    # Numbers that half precision would add up wrongly.
    x = 100 + inputs(4096, (2,))
    half, full = GhostBatchNorm(FEATURES, ghost=2048), GhostBatchNorm(FEATURES, ghost=2048)
    rounded = x.to(dtype)
    out = half(rounded)
    expected = full(rounded.float())
    assert out.dtype == dtype
    assert half.running_mean.dtype == half.running_var.dtype == torch.float32
    torch.testing.assert_close(half.running_mean, full.running_mean, rtol=1e-5, atol=0)
    torch.testing.assert_close(half.running_var, full.running_var, rtol=1e-3, atol=0)
    torch.testing.assert_close(out.float(), expected, rtol=0.02, atol=0.02)
    assert half.eval()(rounded).dtype == dtype


def test_it_works_under_autocast() -> None:
    model = nn.Sequential(nn.Linear(FEATURES, FEATURES), GhostBatchNorm(FEATURES, ghost=4))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(inputs(8))
    assert out.dtype == torch.bfloat16
    out.float().square().sum().backward()
    assert {parameter.grad.dtype for parameter in model.parameters()} == {torch.float32}


def test_the_memory_format_of_images_stays() -> None:
    x = inputs(32, (3, 4)).contiguous(memory_format=torch.channels_last)
    assert GhostBatchNorm(FEATURES, ghost=16)(x).is_contiguous(memory_format=torch.channels_last)


def test_a_batch_of_one_needs_more_than_one_value_of_a_feature() -> None:
    own, torchs = layers(16, (7,))
    torch.testing.assert_close(own(inputs(1, (7,))), torchs(inputs(1, (7,))))
    text = (
        r"more than one value of each feature, got an input of shape \(1, 5\); use a larger batch"
    )
    with pytest.raises(StudyError, match=text):
        own(inputs(1))
    assert own.eval()(inputs(1)).shape == (1, FEATURES)


@given(st.integers(1, 5000), st.integers(2, 300))
def test_parts_are_about_as_large_as_the_ghost_batch(examples: int, ghost: int) -> None:
    count = number_of_parts(examples, ghost)
    sizes = [len(part) for part in torch.empty(examples).tensor_split(count)]
    if examples <= ghost:
        assert sizes == [examples]
    else:
        assert 0.75 * ghost - 1 < min(sizes) <= max(sizes) <= 1.5 * ghost
        assert min(sizes) >= 2


def test_a_ghost_batch_of_one_is_refused() -> None:
    with pytest.raises(StudyError, match="a ghost batch needs at least 2 examples, got 1"):
        GhostBatchNorm(FEATURES, ghost=1)


def test_it_shows_its_size() -> None:
    assert repr(GhostBatchNorm(3, 8)) == "GhostBatchNorm(3, ghost=8, momentum=0.1, eps=1e-05)"


# Ranks.

RANK = f"""
import json, sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from tunebook.training.normalisation import GhostBatchNorm, running_averages, sync_running_averages

rank, meeting = int(sys.argv[1]), sys.argv[2]
model = nn.Sequential(GhostBatchNorm({FEATURES}, ghost=4), nn.BatchNorm1d({FEATURES}))
model(torch.randn(8, {FEATURES}, generator=torch.Generator().manual_seed(rank)) + rank)
before = [buffer.tolist() for buffer in model.buffers()]
dist.init_process_group(
    "gloo",
    init_method=f"file://{{meeting}}",
    rank=rank,
    world_size=2,
    timeout=timedelta(seconds=60),
)
sync_running_averages(running_averages(model))
print(json.dumps([before, [buffer.tolist() for buffer in model.buffers()]]))
dist.destroy_process_group()
"""


def test_two_processes_agree_on_their_running_averages(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RANK]
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "meeting")], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    try:
        told = [json.loads(rank.communicate(timeout=120)[0]) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    (before, after), (other_before, other_after) = told
    assert before != other_before
    assert after == other_after
    for own, other, found in zip(before, other_before, after, strict=True):
        assert found == pytest.approx((np.array(own) + np.array(other)) / 2, rel=1e-6)


def test_a_process_alone_keeps_its_running_averages() -> None:
    own = GhostBatchNorm(FEATURES)
    own(inputs(8))
    before = own.running_mean.clone()
    sync_running_averages(running_averages(own))
    assert torch.equal(own.running_mean, before)


def test_ranks_exchange_running_averages_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Tensor] = []

    def all_reduce(values: Tensor) -> None:
        sent.append(values.clone())
        values.mul_(3)

    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "get_world_size", lambda: 3)
    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    model = nn.Sequential(GhostBatchNorm(FEATURES), nn.Linear(FEATURES, 2), nn.BatchNorm1d(2))
    model(inputs(8))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    sync_running_averages(running_averages(model))
    assert [len(values) for values in sent] == [2 * FEATURES + 2 * 2]
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, before[name])

    sync_running_averages([])
    assert len(sent) == 1
