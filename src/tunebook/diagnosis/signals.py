"""Which logged metric is the training loss, the gradient norm or a validation loss."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from tunebook.core.curves import Curve, Floats
from tunebook.core.evidence import Evidence, Reading

Wanted: TypeAlias = Literal["train_loss", "grad_norm"]

# Names that trainers and examples give these metrics, tried in this order where no knob names one.
USUAL_NAMES: dict[Wanted, tuple[str, ...]] = {
    "train_loss": ("train/loss", "train_loss", "training/loss", "training_loss", "loss"),
    "grad_norm": ("grad_norm", "train/grad_norm", "gradient_norm", "grad/norm", "global_grad_norm"),
}
IN_WORDS: dict[Wanted, str] = {"train_loss": "training loss", "grad_norm": "gradient norm"}
_VALIDATION_LOSS = re.compile(
    r"(?i)(^|[/_.\-])(valid|val|validation|eval|dev)[/_.\-].*(loss|nll|ce)"
)
_LOGGED: WeakKeyDictionary[Evidence, frozenset[str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Signal:
    """A metric that plays a part; `guessed` when its name, and no knob, says so."""

    metric: str
    wanted: Wanted
    guessed: bool

    @property
    def note(self) -> str:
        """What to say of a guess."""
        return f"{self.metric} is taken to be the {IN_WORDS[self.wanted]}" if self.guessed else ""


def signal(evidence: Evidence, wanted: Wanted) -> Signal | None:
    """The metric that a knob names or that has a usual name, if any trial logged it."""
    logged = set(_logged(evidence))
    named = getattr(evidence.study.knobs, wanted)
    if named is not None:
        return Signal(named, wanted, guessed=False) if named in logged else None
    logged.discard(evidence.objective.metric.name)
    usual = next((name for name in USUAL_NAMES[wanted] if name in logged), None)
    return None if usual is None else Signal(usual, wanted, guessed=True)


def _logged(evidence: Evidence) -> frozenset[str]:
    """The metrics of which any trial has a point: asked for often, and looked up once."""
    if evidence not in _LOGGED:
        curves = (r.record.curves for r in evidence.readings)
        _LOGGED[evidence] = frozenset(n for known in curves for n, c in known.items() if len(c))
    return _LOGGED[evidence]


def to_log(evidence: Evidence, wanted: Wanted) -> str:
    """What would make a missing metric known."""
    named, usual = getattr(evidence.study.knobs, wanted), USUAL_NAMES[wanted][0]
    if named is not None:
        return f"Log {named}, which the knob {wanted} names: no trial has logged it."
    return f"Log the {IN_WORDS[wanted]} as {usual}, or name it under knobs: {wanted}."


def validation_losses(evidence: Evidence) -> tuple[str, ...]:
    """Logged metrics that look like a loss on the validation set, beside the objective's."""
    known = set(_logged(evidence))
    known -= {evidence.objective.metric.name, evidence.study.knobs.train_loss or ""}
    return tuple(sorted(name for name in known if _VALIDATION_LOSS.search(name)))


def finite_points(curve: Curve | None) -> tuple[Floats, Floats]:
    """Steps and values of a curve where the value is finite."""
    if curve is None:
        return np.empty(0), np.empty(0)
    kept = np.isfinite(curve.values)
    return curve.steps[kept].astype(np.float64), curve.values[kept]


def losses_of(evidence: Evidence, reading: Reading) -> tuple[Floats, Floats]:
    """The objective's curve of a trial, turned so that lower is better, where it is finite."""
    metric = evidence.objective.metric
    steps, values = finite_points(reading.curve(metric.name))
    return steps, values if metric.better == "lower" else -values


def all_equal(evidence: Evidence) -> str:
    """What to say where every value that trials logged of the objective is the same one."""
    name = evidence.objective.metric.name
    curves = [finite_points(reading.curve(name))[1] for reading in evidence.ranked]
    values = {float(end) for curve in curves if len(curve) for end in (curve.min(), curve.max())}
    return f"All values of {name} are equal: {values.pop():.4g}." if len(values) == 1 else ""
