"""Programs with a planted time, memory and number of steps at each batch size; none really runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulated_probes import Made, subject_of
from tunebook.core.curves import Curve
from tunebook.core.domains import Value
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.procedures.subjects import Subject

KNOBS = Knobs(
    learning_rate="lr", batch_size="batch_size", eval_interval="eval_every", grad_norm="grad_norm"
)
OUT_OF_MEMORY = Outcome(
    OutcomeKind.INFEASIBLE, "its processes used 900 MB, the limit is 800 MB", Cause.OUT_OF_MEMORY
)


def subject(batch_size: int = 64, steps: int = 400, **details: Any) -> Subject:
    fixed: dict[str, Value] = {"lr": 0.01, "batch_size": batch_size, "eval_every": 20}
    return subject_of(
        fixed, details.pop("knobs", KNOBS), probe="batch-size", steps=steps, **details
    )


@dataclass(frozen=True)
class Machine:
    """What a step takes, by batch size, and how much of it is waiting."""

    fixed: float = 0.01
    per_example: float = 1e-4
    noise: float = 0.01
    # Between trials of one size.
    drift: float = 0.0
    largest: float = math.inf
    waits: Mapping[str, float] | None = None
    leak: float = 0.0
    every: int = 1
    # How many steps the goal takes, by batch size; the best learning rate grows with its root.
    steps: Callable[[float], float] | None = None
    # The noise of an evaluation, in logs.
    luck: float = 0.0
    # |G|^2 and tr(S).
    gradient: tuple[float, float] | None = None

    def train(self, config: Config, seed: int, steps: int) -> Made:
        size, rate = (float(str(config[name])) for name in ("batch_size", "lr"))
        rng = np.random.default_rng([seed % 2**32, int(size), steps])
        if size > self.largest:
            return OUT_OF_MEMORY
        each = self.fixed + self.per_example * size
        times = each * np.exp(self.noise * rng.normal(size=steps) + self.drift * rng.normal())
        times[0] *= 10
        seconds = np.cumsum(times)
        every = np.arange(1, steps + 1)
        logged = every % self.every == 0
        x, t = every[logged], seconds[logged]
        memory = 2**28 + size * 2**16 + self.leak * x + 2**12 * rng.normal(size=len(x))
        curves = {
            "valid/error": self._error(size, rate, int(str(config["eval_every"])), x, t, rng),
            "train/loss": Curve.of(x, 1.0 / x, t),
            "memory/bytes": Curve.of(x, memory, t),
        }
        for part, share in (self.waits or {}).items():
            curves[f"time/{part}"] = Curve.of(x, share * t, t)
        if self.gradient is not None:
            mean = math.sqrt(self.gradient[0] + self.gradient[1] / size)
            curves["grad_norm"] = Curve.of(x, mean * np.exp(0.05 * rng.normal(size=len(x))), t)
        return curves

    def _error(
        self,
        size: float,
        rate: float,
        interval: int,
        x: np.ndarray,
        t: np.ndarray,
        rng: np.random.Generator,
    ) -> Curve:
        if self.steps is None:
            return Curve.of(x, 1.0 / x, t)
        evaluated = x % interval == 0
        x, t = x[evaluated], t[evaluated]
        best = 0.01 * math.sqrt(size / 64)
        needed = (
            self.steps(size)
            * math.exp(0.03 * rng.normal())
            * math.exp(0.5 * math.log(rate / best) ** 2)
        )
        # The goal of 0.1 is met at `needed`.
        luck = np.exp(self.luck * rng.normal(size=len(x)))
        return Curve.of(x, 0.1 * needed / x * luck, t)
