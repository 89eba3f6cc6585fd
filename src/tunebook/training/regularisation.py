"""Dropout that draws from the run's own stream, so that nothing else can shift its masks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tunebook.core.errors import StudyError


class Dropout(nn.Module):
    """Dropout whose mask comes from a generator of its own, given to it by `give_generator`.

    The generator must be on the device of the inputs. Without one, masks come from torch's global
    generator.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise StudyError(
                f"a dropout rate must be a number from 0 up to 1, without 1, got {rate}"
            )
        self.rate = rate
        self.generator: torch.Generator | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return x
        kept = torch.rand(x.shape, device=x.device, generator=self.generator) >= self.rate
        return x * kept / (1 - self.rate)

    def extra_repr(self) -> str:
        return f"rate={self.rate}"


def give_generator(model: nn.Module, generator: torch.Generator) -> bool:
    """Let every `Dropout` of a model draw from this generator; says whether there is any."""
    drops = [module for module in model.modules() if isinstance(module, Dropout)]
    for module in drops:
        module.generator = generator
    return any(module.rate > 0 for module in drops)
