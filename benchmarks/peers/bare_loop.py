"""The loop that one would write by hand: no logging, no norm, no checkpoints. The yardstick."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn

WIDTH, CLASSES, EXAMPLES, BATCH = 512, 10, 8192, 128
LEARNING_RATE, MOMENTUM, LOG_EVERY = 0.01, 0.9, 25


def examples() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(EXAMPLES, WIDTH, generator=generator)
    return inputs, torch.randint(0, CLASSES, (EXAMPLES,), generator=generator)


def network() -> nn.Module:
    return nn.Sequential(
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )


def each_of(train: Callable[[int], float], steps: int) -> float:
    """Seconds a step, without what is done once: a longer run less a shorter one."""
    short = steps // 5
    return (train(steps + short) - train(short)) / steps


def bare(steps: int, *, fused: bool | None = None) -> float:
    """Seconds for some steps of the hand-written loop, which reads its loss now and then."""
    inputs, targets = examples()
    model = network()
    optimiser = torch.optim.SGD(
        model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, fused=fused
    )
    began = time.perf_counter()
    step = 0
    while step < steps:
        order = torch.randperm(EXAMPLES)
        for start in range(0, EXAMPLES, BATCH):
            chosen = order[start : start + BATCH]
            loss = nn.functional.cross_entropy(model(inputs[chosen]), targets[chosen])
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            step += 1
            if step % LOG_EVERY == 0:
                loss.item()
            if step == steps:
                break
    return time.perf_counter() - began
