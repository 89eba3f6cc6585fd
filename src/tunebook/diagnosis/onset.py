"""How trials diverged: early in training, or suddenly after a steady fall of the loss.

Warmup cures the one, clipping the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.diagnosis.signals import finite_points, losses_of, signal

Manner: TypeAlias = Literal["early", "sudden"]

# A trial that ends within this share of the training, or before its loss has covered half of the
# usual fall, was unstable early.
EARLY = 0.1
LEARNT = 0.5
# Sound trials that show what is usual.
ENOUGH = 50


def manner_of(evidence: Evidence, diverged: Sequence[Reading]) -> Manner | None:
    """How most of these trials diverged; None where no curve tells."""
    sound = [_loss_curve(evidence, r) for r in evidence.only(Standing.MEASURED)[:ENOUGH]]
    sound = [curve for curve in sound if len(curve[0])]
    usual = float(np.median([_fall(values) for _, values in sound])) if sound else 0.0
    length = max((float(steps[-1]) for steps, _ in sound), default=0.0)
    if length <= 0 or usual <= 0:
        return None
    early = []
    for reading in diverged:
        if reading.record.curves:
            steps, values = _loss_curve(evidence, reading)
            late = len(steps) > 0 and float(steps[-1]) > EARLY * length
            early.append(not (late and _fall(values) >= LEARNT * usual))
    if not early:
        return None
    return "early" if np.mean(early) >= 0.5 else "sudden"


def _fall(values: Floats) -> float:
    return float(values[0] - values.min())


def _loss_curve(evidence: Evidence, reading: Reading) -> tuple[Floats, Floats]:
    """The training loss of a trial, or else its objective: both fall as it learns."""
    loss = signal(evidence, "train_loss")
    if loss is not None and (curve := reading.curve(loss.metric)) is not None:
        return finite_points(curve)
    return losses_of(evidence, reading)
