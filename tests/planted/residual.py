"""A residual network that is unstable where its normalisation is outside the residual.

Made-up classes, a dozen blocks, momentum, large batches and 30 steps: a trial takes a second.
With `norm_place: outside` results improve up to a learning rate of 0.1, the edge of stability: at
0.2 the loss rises above where it began. The healthy twin, `norm_place: inside`, trains well up to
0.5. A warmup makes the network better at 0.1 and does not cure 0.2: its steps are too few.
"""

import numpy as np
import torch
from torch import nn

from tunebook import Metric
from tunebook.training.data import TensorExamples
from tunebook.training.task import Data, Facts, classification_measures, smoothed_cross_entropy

INPUTS, CLASSES, WIDTH, DEPTH = 16, 10, 16, 12
STUDY = """\
study: residual-{place}
goal: Is training stable?
task: {file}:residual
objective: {{metric: valid/loss, better: lower}}
max_steps: {steps}
nuisance:
  learning_rate: {{log: [0.005, 2]}}
fixed: {{norm_place: {place}, optimizer: momentum, batch_size: 256, log_every: 10, keep_best: 0}}
"""


def study(place: str, steps: int = 30) -> str:
    """The study file of the network with its normalisation `inside` or `outside`."""
    return STUDY.format(place=place, file=__file__, steps=steps)


class Block(nn.Module):
    def __init__(self, place: str) -> None:
        super().__init__()
        self.inside = place == "inside"
        self.norm = nn.LayerNorm(WIDTH)
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        return x + self.body(self.norm(x)) if self.inside else self.norm(x + self.body(x))


class Residual:
    """Which of three times ten clouds does a point belong to? Ten classes have three each."""

    facts = Facts(Metric("valid/error", "lower"), chance=0.9, reached=0.05, steps=30)

    def data(self, params):
        rng = np.random.default_rng(7)
        centres = 1.5 * rng.normal(size=(3 * CLASSES, INPUTS))
        chosen = rng.integers(len(centres), size=2048)
        points = centres[chosen] + 0.5 * rng.normal(size=(2048, INPUTS))
        x, y = torch.from_numpy(points.astype(np.float32)), torch.from_numpy(chosen % CLASSES)
        return Data(TensorExamples(x[:1536], y[:1536]), TensorExamples(x[1536:], y[1536:]))

    def build(self, params):
        place = params["norm_place"]
        end = nn.LayerNorm(WIDTH) if place == "inside" else nn.Identity()
        blocks = [Block(place) for _ in range(DEPTH)]
        return nn.Sequential(nn.Linear(INPUTS, WIDTH), *blocks, end, nn.Linear(WIDTH, CLASSES))

    def losses(self, outputs, batch, params):
        return smoothed_cross_entropy(outputs, batch.targets, smoothing=0.0)

    def measures(self, outputs, batch):
        return classification_measures(outputs, batch)


residual = Residual()
