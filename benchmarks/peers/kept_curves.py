"""The curves that every store is given: falling losses with noise, the same numbers for all."""

from __future__ import annotations

import numpy as np

METRICS = ("train/loss", "valid/loss", "valid/error", "grad_norm")


def curves(trial: int, steps: int) -> np.ndarray:
    """One row for each metric."""
    rng = np.random.default_rng(trial)
    falling = np.exp(-5 * np.arange(1, steps + 1) / steps)
    noise = rng.normal(size=(len(METRICS), steps))
    return 0.1 + falling + 0.01 * noise
