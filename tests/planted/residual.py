"""Residual networks that are unstable where their normalisation is outside the residual.

Made-up classes. `study` has a dozen blocks, momentum and 30 steps: a trial takes a second. With
`norm_place: outside` results improve up to a learning rate of 0.1, the edge of stability: at 0.2
the loss rises above where it began. The healthy twin, `norm_place: inside`, trains well up to 0.5.
A warmup makes the network better at 0.1 and does not cure 0.2: its steps are too few.

`deep_study` has 28 blocks, Adam and 200 steps. Outside, a learning rate of 0.0032 is the best
without a warm-up: at 0.01 no training leaves where it began. A warm-up over 20 steps makes 0.01
stable, and better than any without. Inside, nothing is unstable up to 0.032, which is worse without
a warm-up than with one, though no loss rises.
"""

import numpy as np
import torch
from torch import nn

from tunebook import Metric
from tunebook.training.data import TensorExamples
from tunebook.training.task import Data, Facts, classification_measures, smoothed_cross_entropy

INPUTS, CLASSES = 16, 10
STUDY = """\
study: residual-{place}
goal: Is training stable?
task: {file}:residual
objective: {{metric: valid/loss, better: lower}}
max_steps: {steps}
nuisance:
  learning_rate: {{log: [0.005, 2]}}
fixed:
  norm_place: {place}
  blocks: 12
  size: 16
  clouds: 30
  scatter: 0.5
  examples: 2048
  optimizer: momentum
  batch_size: 256
  log_every: 10
  keep_best: 0
"""
DEEP = """\
study: deep-{place}
goal: Does a warm-up help?
task: {file}:residual
objective: {{metric: valid/loss, better: lower}}
max_steps: 200
nuisance:
  learning_rate: {{log: [0.00032, 0.032]}}
fixed:
  norm_place: {place}
  blocks: 28
  size: 32
  clouds: 400
  scatter: 0.35
  examples: 8192
  optimizer: adam
  schedule: linear
  batch_size: 256
  warmup_steps: 0
  keep_best: 0
"""


def study(place: str, steps: int = 30) -> str:
    """The study file of the network with its normalisation `inside` or `outside`."""
    return STUDY.format(place=place, file=__file__, steps=steps)


def deep_study(place: str) -> str:
    """That of the deep one, which a warm-up cures."""
    return DEEP.format(place=place, file=__file__)


class Block(nn.Module):
    def __init__(self, size: int, place: str) -> None:
        super().__init__()
        self.inside = place == "inside"
        self.norm = nn.LayerNorm(size)
        self.body = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size))

    def forward(self, x):
        return x + self.body(self.norm(x)) if self.inside else self.norm(x + self.body(x))


class Residual:
    """Which of many clouds does a point belong to? Ten classes have equally many of them."""

    facts = Facts(Metric("valid/error", "lower"), chance=0.9, reached=0.05, steps=30)

    def data(self, params):
        rng = np.random.default_rng(7)
        count = params["examples"]
        centres = 1.5 * rng.normal(size=(params["clouds"], INPUTS))
        chosen = rng.integers(len(centres), size=count)
        points = centres[chosen] + params["scatter"] * rng.normal(size=(count, INPUTS))
        x, y = torch.from_numpy(points.astype(np.float32)), torch.from_numpy(chosen % CLASSES)
        train = 3 * count // 4
        return Data(TensorExamples(x[:train], y[:train]), TensorExamples(x[train:], y[train:]))

    def build(self, params):
        size, place = params["size"], params["norm_place"]
        end = nn.LayerNorm(size) if place == "inside" else nn.Identity()
        blocks = [Block(size, place) for _ in range(params["blocks"])]
        return nn.Sequential(nn.Linear(INPUTS, size), *blocks, end, nn.Linear(size, CLASSES))

    def losses(self, outputs, batch, params):
        return smoothed_cross_entropy(outputs, batch.targets, smoothing=0.0)

    def measures(self, outputs, batch):
        return classification_measures(outputs, batch)


residual = Residual()
