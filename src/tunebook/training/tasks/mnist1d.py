"""MNIST-1D: ten classes of signals with 40 values, small enough for a laptop and not trivial.

Greydanus and Kobak, *Scaling down deep learning with MNIST-1D*, 2024. The data are made offline.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

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

LENGTH, CLASSES = 40, 10
_SEED = 42


class Mnist1D:
    """Classify signals with an MLP, a 1-D CNN or a residual network.

    Parameters: `model` (mlp, cnn, residual), `width`, `depth`, `dropout`, `norm` (none, batch,
    ghost, layer), `norm_place` (inside or outside the residual), `label_smoothing`.
    """

    facts = Facts(Metric("valid/error", "lower"), chance=0.9, reached=0.06, steps=1500)

    def data(self, params: Config) -> Data:
        train, valid = _examples()
        return Data(train, valid)

    def build(self, params: Config) -> nn.Module:
        return networks.signal_network(params, LENGTH, CLASSES)

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        return smoothed_cross_entropy(
            outputs,
            batch.targets,
            float(params.get("label_smoothing", 0.0)),  # type: ignore[arg-type]
        )

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        return classification_measures(outputs, batch)


@functools.cache
def _examples() -> tuple[TensorExamples, TensorExamples]:
    """4,000 training and 1,000 validation signals: the same in every process."""
    from mnist1d.data import get_dataset_args, make_dataset

    # The package draws from the global generators; they go on as before afterwards.
    before = random.getstate(), np.random.get_state()
    try:
        random.seed(_SEED)
        np.random.seed(_SEED)
        made = make_dataset(get_dataset_args())
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])

    def examples(x: str, y: str) -> TensorExamples:
        inputs = torch.from_numpy(made[x].astype(np.float32))
        return TensorExamples(inputs, torch.from_numpy(made[y].astype(np.int64)))

    return examples("x", "y"), examples("x_test", "y_test")


mnist1d = Mnist1D()
