"""Averages of the weights along the path of training, which are often better than its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from tunebook.core.errors import StudyError
from tunebook.training.normalisation import running_averages


class Average:
    """A running average of a model's parameters, over the updates so far.

    With `decay` it is exponential: the weights of k updates ago count `decay**k`, and the initial
    weights count nothing, so that it can be used from the first update on. Without, it is Polyak's:
    every update counts equally. The running averages of batch norm are averaged as well: they
    belong to the weights under which they were taken. Other buffers stay the model's own, since a
    mean of them need not mean anything: one of infinities, as in a mask, is no number.
    """

    def __init__(self, model: nn.Module, decay: float | None) -> None:
        if decay is not None and not 0 <= decay < 1:
            raise StudyError(
                f"the decay of an average must be a number from 0 up to 1, without 1, got {decay}"
            )
        self.decay = decay
        self.count = 0
        self.values: list[Tensor] = [tensor.clone() for tensor in _tensors(model)]
        self._running = len(running_averages(model))

    @property
    def running(self) -> list[Tensor]:
        """Those of the averaged values that are running averages of batch norm."""
        return self.values[len(self.values) - self._running :]

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Count the model's weights as they are now."""
        self.count += 1
        # Shards are averaged where they are: parameters may be sharded, and buffers are not.
        values, latest = (list(map(_shard, tensors)) for tensors in (self.values, _tensors(model)))
        torch._foreach_lerp_(values, latest, self._weight())

    @contextmanager
    def in_place_of(self, model: nn.Module) -> Iterator[None]:
        """The model has the averaged weights inside, and its own again afterwards."""
        tensors = _tensors(model)
        own = [tensor.clone() for tensor in tensors]
        try:
            _copy(self.values, tensors)
            yield
        finally:
            _copy(own, tensors)

    def _weight(self) -> float:
        """The share of the latest weights among all that have been counted."""
        if self.decay is None:
            return 1 / self.count
        return (1 - self.decay) / (1 - self.decay**self.count)


def _tensors(model: nn.Module) -> list[Tensor]:
    """What is averaged: the parameters, and the running averages."""
    return [tensor.detach() for tensor in (*model.parameters(), *running_averages(model))]


def _shard(tensor: Any) -> Tensor:
    """This rank's part of a tensor, which is all of it unless it is sharded."""
    part: Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return part


@torch.no_grad()
def _copy(sources: list[Tensor], targets: list[Tensor]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)
