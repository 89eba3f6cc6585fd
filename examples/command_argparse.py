"""A script that knows nothing of tunebook: options in, text out, checkpoints of its own."""

import argparse
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--degree", type=int, default=1)
parser.add_argument("--weight-decay", type=float, default=0.0)
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--checkpoints", type=Path)
options = parser.parse_args()

random = np.random.default_rng(options.seed)
x = random.uniform(-1, 1, 200)
y = np.sin(3 * x) + random.normal(0, 0.1, 200)
powers = np.array([x**k for k in range(options.degree + 1)])

start, weights = 0, np.zeros(len(powers))
saved = options.checkpoints / "last.npz" if options.checkpoints else None
if saved and saved.exists():
    with np.load(saved) as content:
        start, weights = int(content["step"]) + 1, content["weights"]

for step in range(start, options.steps):
    error = weights @ powers - y
    print(
        f"step {step}: loss {np.mean(error[:100] ** 2):.6g}, valid {np.mean(error[100:] ** 2):.6g}"
    )
    weights -= options.lr * (powers[:, :100] @ error[:100] / 100 + options.weight_decay * weights)
    if saved and step % 20 == 19:
        partial = saved.with_name("partial.npz")
        np.savez(partial, step=step, weights=weights)
        partial.replace(saved)
