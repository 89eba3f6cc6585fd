"""Fashion-MNIST: ten classes of clothes on images of 28 x 28, from Debian's package.

Xiao, Rasul and Vollgraf, *Fashion-MNIST: a novel image dataset for benchmarking machine learning
algorithms*, 2017.
"""

from __future__ import annotations

import functools
import gzip
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from tunebook.core.domains import Value
from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.training.data import Batch
from tunebook.training.task import (
    Data,
    Facts,
    Pair,
    classification_measures,
    smoothed_cross_entropy,
)
from tunebook.training.tasks import networks
from tunebook.training.tasks.params import rate, size, switch

PACKAGE = "dataset-fashion-mnist"
FOLDER = Path("/usr/share/datasets/fashion-mnist")
SIDE, CLASSES = 28, 10
# Of the images to learn from, the last ones validate.
VALID_EXAMPLES = 5000
# Of all pixels to learn from, between 0 and 1.
_MEAN, _DEVIATION = 0.2860, 0.3530


@dataclass(frozen=True, slots=True, eq=False)
class ImageExamples:
    """Images as bytes, `(n, side, side)`; numbers of mean 0 and deviation 1 are made on demand."""

    images: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.images)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        pixels = self.images[indices].unsqueeze(1).float() / 255
        return (pixels - _MEAN) / _DEVIATION, self.targets[indices].long()


@dataclass(frozen=True, slots=True)
class FashionMnist:
    """Classify clothes with a small CNN; the test set is kept for the end.

    train_examples    how many to learn from: all 55,000; 5,000 others validate
    width             channels of the first convolution: 16; the second has twice as many
    norm              none (default), batch, ghost or layer
    dropout           0
    label_smoothing   0
    flip              whether half of the images are mirrored, each time anew: false
    """

    folder: Path = FOLDER

    facts: ClassVar[Facts] = Facts(
        Metric("valid/error", "lower"), chance=0.9, reached=0.106, steps=600
    )
    defaults: ClassVar[Config] = MappingProxyType[str, Value](
        {
            "train_examples": 55_000,
            "width": 16,
            "norm": "batch",
            "dropout": 0.1,
            "flip": True,
            "optimizer": "adamw",
            "learning_rate": 0.005,
            "weight_decay": 0.01,
            "batch_size": 128,
            "schedule": "cosine",
        }
    )

    def prepare(self) -> None:
        self.data({})

    def data(self, params: Config) -> Data:
        learning, test = examples(self.folder, "train"), examples(self.folder, "t10k")
        most = len(learning) - VALID_EXAMPLES
        count = size(params, "train_examples", most)
        if count > most:
            raise StudyError(
                f"train_examples must be at most {most}, got {count}", parameter="train_examples"
            )
        return Data(
            train=ImageExamples(learning.images[:count], learning.targets[:count]),
            valid=ImageExamples(learning.images[most:], learning.targets[most:]),
            test=test,
            augment=flipped if switch(params, "flip", False) else None,
        )

    def build(self, params: Config) -> nn.Module:
        width, norm = size(params, "width", 16), networks.norm_of(params)
        return networks.image_cnn(SIDE, width, CLASSES, norm, rate(params, "dropout"))

    def losses(self, outputs: Tensor, batch: Batch, params: Config) -> Tensor:
        return smoothed_cross_entropy(outputs, batch.targets, rate(params, "label_smoothing"))

    def measures(self, outputs: Tensor, batch: Batch) -> Mapping[str, Pair]:
        return classification_measures(outputs, batch)


def flipped(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image, `(n, 1, side, side)`, is mirrored with probability one half."""
    mirrored = torch.rand(len(images), 1, 1, 1, generator=generator) < 0.5
    return torch.where(mirrored, images.flip(-1), images)


def read_idx(path: Path) -> Tensor:
    """A compressed file of bytes in IDX format, as a tensor of the dimensions it states."""
    try:
        content = gzip.decompress(path.read_bytes())
    except FileNotFoundError:
        raise ProgramError(
            f"the task fashion_mnist needs {path}, which is not there; "
            f"on Debian, install its package: apt install {PACKAGE}"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise ProgramError(f"{path} cannot be read: {error}") from error
    try:
        # Two zeros, the type (8: bytes), the number of dimensions; then each of them, and the data.
        zeros, kind, dimensions = struct.unpack_from(">HBB", content)
        shape = struct.unpack_from(f">{dimensions}I", content, 4)
        if (zeros, kind) != (0, 8):
            raise ValueError(f"it begins with {content[:4].hex(' ')}")
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions)
        return torch.from_numpy(values.copy()).view(shape)
    except (struct.error, ValueError, RuntimeError) as error:
        raise ProgramError(f"{path} is not a file of bytes in IDX format: {error}") from error


@functools.cache
def examples(folder: Path, part: str) -> ImageExamples:
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    targets = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    if images.shape != (len(targets), SIDE, SIDE):
        raise ProgramError(
            f"{folder} holds {len(targets)} labels for images of shape {tuple(images.shape)}"
        )
    return ImageExamples(images, targets)


fashion_mnist = FashionMnist()
