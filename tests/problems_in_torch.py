"""A tiny task for tests of the training loop: two clouds of points, learnt in a few steps."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.training.data import Batch, TensorExamples
from tunebook.training.normalisation import GhostBatchNorm
from tunebook.training.regularisation import Dropout
from tunebook.training.task import Data, Facts, Pair, classification_measures

FEATURES = 6


def clouds(count: int, seed: int) -> TensorExamples:
    generator = torch.Generator().manual_seed(seed)
    targets = torch.randint(0, 3, (count,), generator=generator)
    inputs = torch.randn(count, FEATURES, generator=generator) + targets[:, None].float()
    return TensorExamples(inputs, targets)


class Clouds:
    """Three clouds; `width`, `dropout` and `norm` are its parameters."""

    facts = Facts(Metric("valid/error", "lower"), chance=2 / 3, reached=0.2, steps=100)

    def __init__(self, train: int = 200, valid: int = 37, augment: bool = False) -> None:
        self._train, self._valid, self._augment = train, valid, augment

    def data(self, params: Config) -> Data:
        def noise(x: Tensor, generator: torch.Generator) -> Tensor:
            return x + 0.1 * torch.randn(x.shape, generator=generator)

        augment = noise if self._augment else None
        return Data(clouds(self._train, 1), clouds(self._valid, 2), augment=augment)

    def build(self, params: Config) -> nn.Module:
        width = int(params.get("width", 16))
        norm = GhostBatchNorm(width, ghost=8) if params.get("norm") else nn.Identity()
        return nn.Sequential(
            nn.Linear(FEATURES, width),
            norm,
            nn.ReLU(),
            Dropout(float(params.get("dropout", 0.0))),
            nn.Linear(width, 3),
        )

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        return nn.functional.cross_entropy(outputs.float(), batch.targets, reduction="none")

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        return classification_measures(outputs, batch)
