"""A model whose loss is sharply curved in its first steps, as where a normalisation has to settle.

At a rate above twice the inverse of that curvature the first steps throw the weights far off, until
the loss overflows. A few steps later the same rates are stable, and better: a warm-up pays. The
healthy twin, `sharp: 0`, is stable from the first step on. A trial takes a fraction of a second.
"""

import time

import numpy as np

STUDY = """\
study: {name}
goal: Is a warm-up needed?
program: {file}:train
objective: {{metric: valid/loss, better: lower}}
max_steps: {steps}
nuisance:
  lr: {{log: [0.003, 0.3]}}
fixed: {{warmup: 0, sharp: {sharp}, pause: {pause}}}
knobs: {{learning_rate: lr, warmup_steps: warmup, train_loss: train/loss}}
"""
CURVATURES = np.geomspace(0.003, 0.1, 8)
SETTLING = 2.0
OVERFLOW = 10.0


def study(name: str = "settling", sharp: float = 200, steps: int = 300, pause: float = 0) -> str:
    """The study file; `sharp` is the curvature at the first step, `pause` the seconds of a step."""
    return STUDY.format(name=name, file=__file__, sharp=sharp, steps=steps, pause=pause)


def train(run):
    rng = np.random.default_rng(run.seed)
    weights = begun = rng.choice([-1.0, 1.0], size=8)
    steps = int(run.budget.amount)
    for step in range(1, steps + 1):
        rate = run["lr"] * min(step / max(run["warmup"], 1), 1.0)
        loss = 0.5 * float(CURVATURES @ weights**2) + 0.01
        if loss > OVERFLOW:
            loss = float("nan")
        logged = {"train/loss": loss * float(np.exp(0.05 * rng.normal()))}
        if step % 10 == 0 or step == steps:
            logged["valid/loss"] = loss
        run.log(logged, step=step)
        noise = 0.05 * rng.normal(size=8)
        sharp = run["sharp"] * np.exp(-(step - 1) / SETTLING)
        gradient = CURVATURES * weights + sharp * (weights - begun) + np.sqrt(CURVATURES) * noise
        weights = weights - rate * gradient
        time.sleep(run["pause"])
        if run.should_stop:
            return
