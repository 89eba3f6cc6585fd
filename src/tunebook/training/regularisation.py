"""Dropout that draws from the run's own stream, so that nothing else can shift its masks."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Dropout whose mask comes from a generator of its own, given to it by the loop."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"a dropout rate lies in [0, 1), got {rate}")
        self.rate = rate
        self.generator: torch.Generator | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return x
        kept = torch.rand(x.shape, device=x.device, generator=self.generator) >= self.rate
        return x * kept / (1 - self.rate)

    def extra_repr(self) -> str:
        return f"rate={self.rate}"


def give_generator(model: nn.Module, generator: torch.Generator) -> None:
    """Let every `Dropout` of a model draw from this generator."""
    for module in model.modules():
        if isinstance(module, Dropout):
            module.generator = generator
