"""What a study optimises: which curve, which way is better, and how a curve becomes one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tunebook.core.curves import Curve
from tunebook.core.domains import check_value
from tunebook.core.errors import StudyError

Better: TypeAlias = Literal["lower", "higher"]
Reduction: TypeAlias = Literal["best", "last", "mean"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A name and which way is better."""

    name: str
    better: Better = "lower"

    def __post_init__(self) -> None:
        if not self.name:
            raise StudyError("a metric needs a name, got ''")
        if self.better not in ("lower", "higher"):
            raise StudyError(f"better must be lower or higher, got {self.better!r}")

    def is_better(self, one: float, other: float) -> bool:
        """NaN and infinity on the bad side are never better, in either direction."""
        return self.loss(one) < self.loss(other)

    def loss(self, value: float) -> float:
        """The value turned so that lower is better; what is not finite ranks worst.

        >>> Metric("accuracy", "higher").loss(0.75), Metric("accuracy", "higher").loss(float("nan"))
        (-0.75, inf)
        """
        if not np.isfinite(value):
            return float("inf")
        return value if self.better == "lower" else -value


@dataclass(frozen=True, slots=True)
class Constraint:
    """A bound on another metric, such as a latency of at most 30 ms."""

    metric: str
    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.at_least is None):
            raise StudyError(f"the constraint on {self.metric} needs either at_most or at_least")
        check_value(self.at_most)
        check_value(self.at_least)

    def __str__(self) -> str:
        if self.at_most is not None:
            return f"{self.metric} <= {self.at_most:g}"
        return f"{self.metric} >= {self.at_least:g}"

    def holds(self, value: float) -> bool:
        if self.at_most is not None:
            return value <= self.at_most
        return self.at_least is not None and value >= self.at_least


@dataclass(frozen=True, slots=True)
class Measure:
    """A trial's result: one number, and the step at which it was seen."""

    value: float
    step: int


@dataclass(frozen=True, slots=True)
class Objective:
    """How the curves of a trial become one number: best over training unless said otherwise."""

    metric: Metric
    reduction: Reduction = "best"
    over: int = 1
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        if self.reduction not in ("best", "last", "mean"):
            raise StudyError(f"reduction must be best, last or mean, got {self.reduction!r}")
        if self.over < 1:
            raise StudyError(f"the mean is over at least one point, got {self.over}")

    def __str__(self) -> str:
        over = f" of {self.over}" if self.reduction == "mean" else ""
        bounds = "".join(f", {constraint}" for constraint in self.constraints)
        return f"{self.reduction}{over} {self.metric.name} ({self.metric.better}){bounds}"

    def measure(self, curves: Mapping[str, Curve]) -> Measure | None:
        """The result, or None where the metric was not logged or no point meets the constraints.

        >>> curve = Curve.of([10, 20, 30], [0.5, 0.2, 0.3])
        >>> Objective(Metric("error")).measure({"error": curve})
        Measure(value=0.2, step=20)
        >>> Objective(Metric("error"), "last").measure({"error": curve})
        Measure(value=0.3, step=30)
        """
        curve = curves.get(self.metric.name)
        if curve is None:
            return None
        allowed = self._allowed(curve, curves)
        steps, values = curve.steps[allowed], curve.values[allowed]
        if self.reduction == "best":
            finite = np.isfinite(values)
            steps, values = steps[finite], values[finite]
        if not len(values):
            return None
        match self.reduction:
            case "best":
                at = int(np.argmin(values) if self.metric.better == "lower" else np.argmax(values))
                return Measure(float(values[at]), int(steps[at]))
            case "last":
                return Measure(float(values[-1]), int(steps[-1]))
            case "mean":
                return Measure(float(np.mean(values[-self.over :])), int(steps[-1]))

    def _allowed(self, curve: Curve, curves: Mapping[str, Curve]) -> np.ndarray:
        """At each step a constraint is judged on the latest value of its metric."""
        allowed = np.ones(len(curve.steps), dtype=bool)
        for constraint in self.constraints:
            other = curves.get(constraint.metric)
            if other is None or not len(other.steps):
                return np.zeros(len(curve.steps), dtype=bool)
            latest = np.searchsorted(other.steps, curve.steps, side="right") - 1
            holds = np.array([constraint.holds(float(v)) for v in other.values], dtype=bool)
            allowed &= np.where(latest >= 0, holds[np.maximum(latest, 0)], False)
        return allowed
