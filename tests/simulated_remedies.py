"""Programs whose instability, and what cures it, are known: a formula makes their curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulated_probes import Made, subject_of
from tunebook.core.domains import Value
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.procedures.subjects import Subject

KNOBS = Knobs(
    learning_rate="lr",
    warmup_steps="warmup",
    clipping="clip",
    train_loss="train/loss",
    grad_norm="grad_norm",
)
START: Mapping[str, Value] = {"lr": 0.03, "warmup": 0, "clip": None}
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "train/loss became nan at step 4", Cause.DIVERGED)
BROKEN = Outcome(OutcomeKind.FAILED, "ModuleNotFoundError: no module named 'x'")


@dataclass(frozen=True)
class Program:
    """A program that is stable below `limit`, a learning rate, and ends best at `optimum`.

    `warm` is the limit by length of warm-up, `clipped` by threshold. Norms of gradients are about
    1, every 20th is 30. An unstable training rises early, or comes to nothing if it `diverges`.
    """

    limit: float = 0.06
    optimum: float = 1.0
    warm: Callable[[int], float] = lambda steps: 0.0
    clipped: Callable[[float], float] = lambda threshold: 0.0
    diverges: bool = False
    noise: float = 0.002
    every: int = 1
    norms: Callable[[Config], float] = lambda config: 1.0
    # What the result loses without a trace in any loss, by rate, length of warm-up and threshold.
    unseen: Callable[[float, float, float], float] = lambda rate, warmup, clip: 0.0

    def __call__(self, config: Config, seed: int, steps: int) -> Made:
        rate, warmup, clip = (_number(config.get(name)) for name in ("lr", "warmup", "clip"))
        limit = max(
            self.limit,
            self.warm(int(warmup)) if warmup else 0.0,
            self.clipped(clip) if clip else 0.0,
        )
        rng = np.random.default_rng([seed, round(1e6 * rate), round(1e3 * clip), int(warmup)])
        at = np.arange(1, steps + 1)
        unstable = rate > limit
        if unstable and self.diverges:
            return DIVERGED
        loss = 0.2 + 2.1 * np.exp(-at / 20)
        error = 0.1 + 0.05 * abs(math.log10(rate / self.optimum))
        error += self.unseen(rate, warmup, clip)
        if unstable:
            loss = loss + np.where(at > warmup + 5, 3.0, 0.0)
            error = 0.9
        norms = self.norms(config) * np.exp(0.1 * rng.normal(size=steps))
        norms[::20] *= 30
        logged = slice(None, None, self.every)
        return {
            "train/loss": _curve(
                at[logged], (loss * np.exp(0.05 * rng.normal(size=steps)))[logged]
            ),
            "grad_norm": _curve(at[logged], norms[logged]),
            "valid/error": _curve([steps], [error + self.noise * rng.normal()]),
        }


def subject(
    start: Mapping[str, Value] | None = None,
    *,
    knobs: Knobs = KNOBS,
    steps: int = 400,
    **given: Any,
) -> Subject:
    """A study of such a program."""
    return subject_of({**START, **(start or {})}, knobs, steps=steps, **given)


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _curve(steps: Any, values: Any) -> Any:
    from tunebook.core.curves import Curve

    return Curve.of(steps, values)
