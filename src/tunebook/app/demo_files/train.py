"""Train a small network on MNIST-1D: the training function of the demo.

The data are made when the file is imported, which happens once for all trials.
"""

import random

import numpy as np
import torch
from mnist1d.data import get_dataset_args, make_dataset
from torch import nn

BATCH_SIZE = 128
EVALUATE_EVERY = 25


def load_data():
    random.seed(0)
    np.random.seed(0)
    data = make_dataset(get_dataset_args())
    arrays = (data["x"], data["y"], data["x_test"], data["y_test"])
    return tuple(
        torch.tensor(a, dtype=torch.float32 if a.ndim == 2 else torch.long) for a in arrays
    )


TRAIN_X, TRAIN_Y, VALID_X, VALID_Y = load_data()


def build(model, dropout):
    """Two networks of about the same size: one sees 40 numbers, the other a signal."""
    if model == "mlp":
        return nn.Sequential(
            nn.Linear(40, 100),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(100, 100),
            nn.ReLU(),
            nn.Linear(100, 10),
        )
    return nn.Sequential(
        nn.Unflatten(1, (1, 40)),
        nn.Conv1d(1, 24, 5, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv1d(24, 24, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv1d(24, 24, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(dropout),
        nn.Linear(24 * 5, 10),
    )


def train(run):
    torch.manual_seed(run.seed)
    model = build(run["model"], run["dropout"])
    optimizer = torch.optim.SGD(
        model.parameters(), lr=run["learning_rate"], momentum=run["momentum"], nesterov=True
    )
    steps = int(run.budget.amount)
    for step in range(steps):
        chosen = torch.randint(len(TRAIN_X), (BATCH_SIZE,))
        loss = nn.functional.cross_entropy(model(TRAIN_X[chosen]), TRAIN_Y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % EVALUATE_EVERY == 0 or step + 1 == steps:
            run.log({"train/loss": loss.item(), **evaluate(model)}, step=step)
        if run.should_stop:
            return


@torch.no_grad()
def evaluate(model):
    model.eval()
    logits = model(VALID_X)
    model.train()
    return {
        "valid/loss": nn.functional.cross_entropy(logits, VALID_Y).item(),
        "valid/error": (logits.argmax(1) != VALID_Y).float().mean().item(),
    }
