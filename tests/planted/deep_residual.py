"""A deep residual network that a warm-up cures where its normalisation is outside the residual.

28 narrow blocks, Adam, 200 steps. With `norm_place: outside` a learning rate of 0.0032 is the best
without a warm-up: at 0.01 no training leaves where it began. A warm-up over 20 steps makes 0.01
stable, and the loss a third lower than the best without one. The healthy twin, `norm_place:
inside`, trains well from 0.0032 to 0.03 without one.
"""

import numpy as np
import torch
from torch import nn

from tunebook import Metric
from tunebook.training.data import TensorExamples
from tunebook.training.task import Data, Facts, classification_measures, smoothed_cross_entropy

INPUTS, CLASSES, WIDTH, DEPTH, CLOUDS = 16, 10, 32, 28, 400
STUDY = """\
study: deep-{place}
goal: Does a warm-up help?
task: {file}:deep_residual
objective: {{metric: valid/loss, better: lower}}
max_steps: 200
nuisance:
  learning_rate: {{log: [0.00032, 0.032]}}
fixed:
  norm_place: {place}
  optimizer: adam
  schedule: linear
  batch_size: 256
  warmup_steps: 0
  keep_best: 0
"""


def study(place: str) -> str:
    """The study file of the network with its normalisation `inside` or `outside`."""
    return STUDY.format(place=place, file=__file__)


class Block(nn.Module):
    def __init__(self, place: str) -> None:
        super().__init__()
        self.inside = place == "inside"
        self.norm = nn.LayerNorm(WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        return x + self.body(self.norm(x)) if self.inside else self.norm(x + self.body(x))


class DeepResidual:
    """Which of 400 clouds does a point belong to? Ten classes have forty each."""

    facts = Facts(Metric("valid/error", "lower"), chance=0.9, reached=0.05, steps=200)

    def data(self, params):
        rng = np.random.default_rng(7)
        centres = 1.5 * rng.normal(size=(CLOUDS, INPUTS))
        chosen = rng.integers(CLOUDS, size=8192)
        points = centres[chosen] + 0.35 * rng.normal(size=(8192, INPUTS))
        x, y = torch.from_numpy(points.astype(np.float32)), torch.from_numpy(chosen % CLASSES)
        return Data(TensorExamples(x[:6144], y[:6144]), TensorExamples(x[6144:], y[6144:]))

    def build(self, params):
        place = params["norm_place"]
        end = nn.LayerNorm(WIDTH) if place == "inside" else nn.Identity()
        blocks = [Block(place) for _ in range(DEPTH)]
        head = nn.Linear(WIDTH, CLASSES)
        return nn.Sequential(nn.Linear(INPUTS, WIDTH), *blocks, end, head)

    def losses(self, outputs, batch, params):
        return smoothed_cross_entropy(outputs, batch.targets, smoothing=0.0)

    def measures(self, outputs, batch):
        return classification_measures(outputs, batch)


deep_residual = DeepResidual()
