"""A task: what the reference loop must be told about a problem, and nothing more."""

import torch
from sklearn.datasets import load_digits
from torch import nn

from tunebook import Metric
from tunebook.training.data import TensorExamples
from tunebook.training.task import Data, Facts, classification_measures, smoothed_cross_entropy


class Digits:
    facts = Facts(Metric("valid/error", "lower"), chance=0.9, reached=0.1, steps=400)

    def data(self, params):
        pixels, labels = load_digits(return_X_y=True)
        x, y = torch.tensor(pixels, dtype=torch.float32) / 16, torch.tensor(labels)
        return Data(TensorExamples(x[:1400], y[:1400]), TensorExamples(x[1400:], y[1400:]))

    def build(self, params):
        width = params["width"]
        return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))

    def losses(self, outputs, batch, params):
        return smoothed_cross_entropy(outputs, batch.targets, smoothing=0.0)

    def measures(self, outputs, batch):
        return classification_measures(outputs, batch)


digits = Digits()
