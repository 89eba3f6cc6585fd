"""A regression in which a few examples have inputs far larger than all others.

Their gradients are outliers: above a small learning rate each of them throws the weights far off,
all of a sudden, until the loss overflows. Clipping bounds what they do, and training is stable at
far higher rates. The healthy twin has no such examples. A trial takes a fraction of a second.
"""

import numpy as np

STUDY = """\
study: {name}
goal: Is clipping needed?
program: {file}:train
objective: {{metric: valid/loss, better: lower, reduction: last}}
max_steps: {steps}
nuisance:
  lr: {{log: [0.001, 0.1]}}
fixed: {{clip: null, outliers: {outliers}}}
knobs: {{learning_rate: lr, clipping: clip, train_loss: train/loss, grad_norm: grad_norm}}
"""
INPUTS, BATCH, LARGE, OVERFLOW = 10, 8, 20.0, 100.0


def study(name: str = "outliers", outliers: float = 0.004, steps: int = 300) -> str:
    """The study file; a share of 0 outliers makes the healthy twin."""
    return STUDY.format(name=name, file=__file__, outliers=outliers, steps=steps)


def train(run):
    rng = np.random.default_rng(run.seed)
    truth = rng.choice([-1.0, 1.0], size=INPUTS)
    weights = np.zeros(INPUTS)
    steps = int(run.budget.amount)
    for step in range(1, steps + 1):
        x = rng.normal(size=(BATCH, INPUTS))
        x *= np.where(rng.random((BATCH, 1)) < run["outliers"], LARGE, 1.0)
        wrong = x @ (weights - truth) + 0.3 * rng.normal(size=BATCH)
        gradient = x.T @ wrong / BATCH
        norm = float(np.linalg.norm(gradient))
        # Of an example with large inputs, as of others, the loss is that of its direction.
        loss = 0.5 * float(np.sum((weights - truth) ** 2)) + 0.05
        if loss > OVERFLOW:
            loss = float("nan")
        logged = {"train/loss": loss * float(np.exp(0.1 * rng.normal())), "grad_norm": norm}
        if step % 10 == 0 or step == steps:
            logged["valid/loss"] = loss
        run.log(logged, step=step)
        if run["clip"] is not None and norm > run["clip"]:
            gradient *= run["clip"] / norm
        weights = weights - run["lr"] * gradient
        if run.should_stop:
            return
