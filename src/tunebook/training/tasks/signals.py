"""MNIST-1D: ten classes of signals with 40 values, small enough for a laptop and not trivial.

Greydanus and Kobak, *Scaling down deep learning with MNIST-1D*, 2024. The data are made offline.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor, nn

from tunebook.core.domains import Value
from tunebook.core.errors import ProgramError
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.training.data import Batch, TensorExamples
from tunebook.training.task import (
    Data,
    Facts,
    Pair,
    classification_measures,
    smoothed_cross_entropy,
)
from tunebook.training.tasks import networks
from tunebook.training.tasks.params import rate

LENGTH, CLASSES = 40, 10


class Mnist1D:
    """Classify signals, 4,000 of them to learn from and 1,000 to validate on.

    model             mlp, cnn (default) or residual
    width             of each layer: 100 (mlp), 24 (cnn), 64 (residual)
    depth             hidden layers of the mlp: 2; blocks of the residual network: 4
    norm              none (default), batch, ghost or layer
    norm_place        of the residual network: inside (default) or outside the residual
    dropout           0
    label_smoothing   0
    """

    facts = Facts(Metric("valid/error", "lower"), chance=0.9, reached=0.03, steps=1500)
    defaults: Config = MappingProxyType[str, Value](
        {
            "model": "cnn",
            "width": 48,
            "norm": "batch",
            "dropout": 0.3,
            "optimizer": "adamw",
            "learning_rate": 0.01,
            "weight_decay": 0.05,
            "batch_size": 128,
            "schedule": "cosine",
        }
    )

    def prepare(self) -> None:
        examples()

    def data(self, params: Config) -> Data:
        train, valid = examples()
        return Data(train, valid)

    def build(self, params: Config) -> nn.Module:
        return networks.signal_network(params, LENGTH, CLASSES)

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        return smoothed_cross_entropy(outputs, batch.targets, rate(params, "label_smoothing"))

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        return classification_measures(outputs, batch)


@functools.cache
def examples() -> tuple[TensorExamples, TensorExamples]:
    """The same signals in every process."""
    try:
        from mnist1d.data import get_dataset_args, make_dataset
    except ImportError as error:
        raise ProgramError(
            f"the task mnist1d needs the package mnist1d ({error}): pip install 'tunebook[tasks]'"
        ) from error

    # The package seeds the global generators and draws from them; they go on as before afterwards.
    before = random.getstate(), np.random.get_state()
    try:
        made = make_dataset(get_dataset_args())
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])

    def part(x: str, y: str) -> TensorExamples:
        inputs = torch.from_numpy(made[x].astype(np.float32))
        return TensorExamples(inputs, torch.from_numpy(made[y].astype(np.int64)))

    return part("x", "y"), part("x_test", "y_test")


mnist1d = Mnist1D()
