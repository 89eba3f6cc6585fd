"""The handwritten digits of scikit-learn: 1,797 images of 8 x 8 pixels. A trial takes seconds."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from pathlib import Path
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
from tunebook.training.tasks.params import rate, size

PIXELS, CLASSES = 64, 10
TRAIN_EXAMPLES = 1297
# Pixels count the dark points of a field of 4 x 4.
_DARKEST = 16


class Digits:
    """Classify digits with an MLP: the first 1,297 to learn from, the last 500 to validate on.

    width             of each hidden layer: 64
    depth             hidden layers: 2
    norm              none (default), batch, ghost or layer
    dropout           0
    label_smoothing   0
    """

    facts = Facts(Metric("valid/error", "lower"), chance=0.9, reached=0.06, steps=500)
    defaults: Config = MappingProxyType[str, Value](
        {
            "width": 128,
            "depth": 2,
            "norm": "batch",
            "dropout": 0.2,
            "optimizer": "adamw",
            "learning_rate": 0.003,
            "weight_decay": 0.01,
            "batch_size": 64,
            "schedule": "cosine",
        }
    )

    def prepare(self) -> None:
        examples()

    def data(self, params: Config) -> Data:
        train, valid = examples()
        return Data(train, valid)

    def build(self, params: Config) -> nn.Module:
        width, depth = size(params, "width", 64), size(params, "depth", 2)
        norm, dropout = networks.norm_of(params), rate(params, "dropout")
        return networks.mlp(PIXELS, width, depth, CLASSES, norm, dropout)

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        return smoothed_cross_entropy(outputs, batch.targets, rate(params, "label_smoothing"))

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        return classification_measures(outputs, batch)


@functools.cache
def examples() -> tuple[TensorExamples, TensorExamples]:
    """Split by position, which needs no random numbers; pixels from -1 to 1."""
    # Read from its file by numpy: importing the package would start threads, as would torch, and
    # then no process with the examples in it could be forked for the trials.
    package = importlib.util.find_spec("sklearn")
    folders = package.submodule_search_locations if package is not None else None
    file = Path(folders[0], "datasets", "data", "digits.csv.gz") if folders else None
    if file is None or not file.exists():
        why = f"there is no {file}" if file is not None else "No module named 'sklearn'"
        raise ProgramError(
            f"the task digits needs scikit-learn ({why}): pip install 'tunebook[tasks]'"
        )
    table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    inputs = torch.from_numpy(table[:, :-1] / (_DARKEST / 2) - 1)
    targets = torch.from_numpy(table[:, -1].astype(np.int64))
    return (
        TensorExamples(inputs[:TRAIN_EXAMPLES], targets[:TRAIN_EXAMPLES]),
        TensorExamples(inputs[TRAIN_EXAMPLES:], targets[TRAIN_EXAMPLES:]),
    )


digits = Digits()
