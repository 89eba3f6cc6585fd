"""Averages of the weights along the path of training, which are often better than its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """A running average of a model's parameters.

    With `decay` it is exponential: the past keeps that share at every update. Without, it is
    Polyak's: every update counts equally.
    """

    def __init__(self, model: nn.Module, decay: float | None) -> None:
        if decay is not None and not 0 <= decay < 1:
            raise ValueError(f"the decay of an average lies in [0, 1), got {decay}")
        self.decay = decay
        self.count = 0
        self.values: list[Tensor] = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        self.count += 1
        weight = 1 / self.count if self.decay is None else 1 - self.decay
        current = [parameter.detach() for parameter in model.parameters()]
        torch._foreach_lerp_(self.values, current, weight)

    @contextmanager
    def in_place_of(self, model: nn.Module) -> Iterator[None]:
        """The model has the averaged weights inside, and its own again afterwards."""
        parameters = list(model.parameters())
        own = [parameter.detach().clone() for parameter in parameters]
        try:
            _copy(self.values, parameters)
            yield
        finally:
            _copy(own, parameters)


@torch.no_grad()
def _copy(sources: list[Tensor], targets: list[nn.Parameter]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)
