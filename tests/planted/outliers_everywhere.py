"""A regression in which a few gradients are far out, whatever the learning rate.

Each throws the weights off, and training comes back: the loss spikes at the best rate, too, and a
training that ends in a spike ends badly. Clipping bounds what they do. The healthy twin has none.
A trial takes a fraction of a second.
"""

import numpy as np

STUDY = """\
study: {name}
goal: Is clipping needed?
program: {file}:train
objective: {{metric: valid/loss, better: lower, reduction: last}}
max_steps: {steps}
nuisance:
  lr: {{log: [0.001, 1]}}
fixed: {{clip: null, outliers: {outliers}}}
knobs: {{learning_rate: lr, clipping: clip, train_loss: train/loss, grad_norm: grad_norm}}
"""
INPUTS, BATCH, NOISE, FAR = 20, 64, 0.5, 40.0


def study(name: str = "outliers_everywhere", outliers: float = 0.02, steps: int = 300) -> str:
    """The study file; a share of 0 outliers makes the healthy twin."""
    return STUDY.format(name=name, file=__file__, outliers=outliers, steps=steps)


def train(run):
    rng = np.random.default_rng(run.seed)
    off = rng.choice([-1.0, 1.0], size=INPUTS)
    steps = int(run.budget.amount)
    for step in range(1, steps + 1):
        x = rng.normal(size=(BATCH, INPUTS))
        wrong = x @ off + NOISE * rng.normal(size=BATCH)
        gradient = x.T @ wrong / BATCH
        if rng.random() < run["outliers"]:
            gradient += FAR * rng.normal(size=INPUTS)
        norm = float(np.linalg.norm(gradient))
        logged = {"train/loss": float(np.mean(wrong**2)), "grad_norm": norm}
        if step % 10 == 0 or step == steps:
            logged["valid/loss"] = float(np.sum(off**2)) + NOISE**2
        run.log(logged, step=step)
        if run["clip"] is not None and norm > run["clip"]:
            gradient *= run["clip"] / norm
        off = np.clip(off - run["lr"] * gradient, -1e8, 1e8)
        if run.should_stop:
            return
