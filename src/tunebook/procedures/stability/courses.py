"""How short trainings go, step by step: steadily, unstable early, or unstable all of a sudden."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Reading, Standing
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric
from tunebook.core.trials import Cause, OutcomeKind
from tunebook.diagnosis.failures import failed
from tunebook.diagnosis.signals import USUAL_NAMES, finite_points
from tunebook.stats.stability import EARLY, FEWEST, SMALLEST, Kind, Stability, training_stability

# Half of the usual fall is what a training must have behind it before a failure is sudden; one
# that ends with less than a quarter of it has not learnt.
HALF_WAY: Final = 0.5
LEARNT: Final = 0.25
# A loss is seen on a log scale above this share of the usual fall: near zero, rises by any factor
# do no harm.
FLOOR: Final = 0.1


@dataclass(frozen=True, slots=True)
class Usual:
    """What a training is compared with: the level at which losses begin, how far they fall, and
    the step at which they have covered half of it."""

    start: float
    fall: float
    half_way: float


@dataclass(frozen=True, slots=True)
class Course:
    """How the training of one trial went: `onset` is where it became unstable, `why` in words.

    `factor` is by how much it rose above its lowest level, `recovered` whether it came back.
    """

    reading: Reading
    kind: Kind
    onset: float | None = None
    why: str = ""
    factor: float = math.inf
    recovered: bool = False

    @property
    def is_stable(self) -> bool:
        return self.kind is Kind.STABLE


def shown_by(readings: Sequence[Reading], knobs: Knobs, objective: Metric) -> Metric | None:
    """The metric that shows how trainings go: the one that is logged at the most steps.

    It is the training loss, unless it is logged more rarely than the objective. None where neither
    has enough points in any trial.
    """
    usual = (knobs.train_loss,) if knobs.train_loss else USUAL_NAMES["train_loss"]
    named = [Metric(name) for name in usual if name != objective.name]
    logged = {metric: _points(readings, metric.name) for metric in (*named, objective)}
    found = max(logged, key=lambda metric: (logged[metric], metric is not objective))
    return found if logged[found] >= FEWEST else None


def usual(readings: Sequence[Reading], metric: Metric) -> Usual | None:
    """What trainings do that go well, by their median; None where none of them falls."""
    found = []
    for reading in readings:
        steps, losses = _losses(reading, metric)
        if len(losses) < FEWEST:
            continue
        start, low = _begin(losses), float(np.quantile(losses, 0.05))
        below = np.flatnonzero(losses <= start - HALF_WAY * (start - low))
        found.append((start, start - low, float(steps[below[0]]) if len(below) else math.inf))
    if not found:
        return None
    start, fall, half_way = (float(np.median(column)) for column in zip(*found, strict=True))
    return Usual(start, fall, half_way) if fall > 0 else None


def course(reading: Reading, metric: Metric, compared: Usual, steps: int) -> Course | None:
    """How a training of so many steps went, beside the usual one; None where it cannot be told."""
    early = max(EARLY * steps, compared.half_way if math.isfinite(compared.half_way) else 0.0)
    curve = reading.curve(metric.name)
    if reading.standing is Standing.BROKEN or _out_of_memory(reading):
        return None
    if curve is None:
        if reading.standing is not Standing.INFEASIBLE:
            return None
        why = reading.why if failed(reading) else "it diverged before its first value"
        return Course(reading, Kind.EARLY, 0.0, why)
    at, values = curve.steps.astype(np.float64), _turned(curve.values, metric)
    shift, offset = _floor(values, compared)
    found = training_stability(at, values + shift, early=early, offset=offset)
    if found is not None and found.kind is not Kind.STABLE and not found.recovered:
        return _unstable(reading, metric, found)
    ended = float(at[-1])
    if reading.standing is Standing.INFEASIBLE and _is_cut(reading, at, steps):
        kind = Kind.EARLY if ended <= early else Kind.SUDDEN
        why = f"it diverged at step {ended:.0f}"
        return Course(reading, kind, ended, reading.why if failed(reading) else why)
    if found is None:
        return None
    # Before a rise that comes back: one that comes back to where it began has learnt nothing.
    if compared.start - _end(values) < LEARNT * compared.fall:
        return Course(reading, Kind.EARLY, float(at[0]), f"{metric.name} never falls")
    if found.kind is not Kind.STABLE:
        return _unstable(reading, metric, found)
    return Course(reading, Kind.STABLE)


def _is_cut(reading: Reading, at: Floats, steps: int) -> bool:
    """Whether a training ended before its time, and is not merely infeasible by its result."""
    outcome = reading.record.outcome
    if outcome is None or outcome.kind is not OutcomeKind.COMPLETE:
        return True
    # The last point may be at the last step but one, or that of a coarser grid.
    apart = float(at[-1] - at[-2]) if len(at) > 1 else 1.0
    return float(at[-1]) + apart < steps


def _unstable(reading: Reading, metric: Metric, found: Stability) -> Course:
    rise = "without bounds" if math.isinf(found.factor) else f"by {_share(found.factor)}"
    back = ", and comes back" if found.recovered else ""
    why = f"{metric.name} rises {rise} from step {found.onset:.0f} on{back}"
    return Course(reading, found.kind, found.onset, why, found.factor, found.recovered)


def together(courses: Sequence[Course]) -> Kind:
    """How trainings with several seeds go: unstable if most of them are, as most of those are."""
    unstable = [one.kind for one in courses if not one.is_stable]
    if 2 * len(unstable) <= len(courses):
        return Kind.STABLE
    return Kind.EARLY if 2 * unstable.count(Kind.EARLY) >= len(unstable) else Kind.SUDDEN


def _points(readings: Sequence[Reading], name: str) -> int:
    """The points of the longest curve."""
    curves = (reading.curve(name) for reading in readings)
    return max((len(curve) for curve in curves if curve is not None), default=0)


def _losses(reading: Reading, metric: Metric) -> tuple[Floats, Floats]:
    steps, values = finite_points(reading.curve(metric.name))
    return steps, _turned(values, metric)


def _turned(values: Floats, metric: Metric) -> Floats:
    return values if metric.better == "lower" else -values


def _floor(values: Floats, compared: Usual) -> tuple[float, float]:
    """What to add to losses so that they have logs, and then to measure rises above a floor.

    The floor is below what is usually reached. Losses above 0 stay as they are: in their logs the
    noise of a batch is alike everywhere, which it is not above a floor.
    """
    finite = values[np.isfinite(values)]
    lowest = min([compared.start - compared.fall, *finite.tolist()])
    above = FLOOR * compared.fall - lowest
    return (0.0, above) if np.all(finite > SMALLEST) else (above, 0.0)


def _begin(losses: Floats) -> float:
    return float(np.median(losses[: max(3, len(losses) // 50)]))


def _end(losses: Floats) -> float:
    finite = losses[np.isfinite(losses)]
    return float(np.median(finite[-max(3, len(finite) // 10) :])) if len(finite) else math.inf


def _share(factor: float) -> str:
    if factor > 1000:
        return "more than a thousandfold"
    return f"{100 * (factor - 1):.0f}%" if factor < 3 else f"a factor of {factor:.3g}"


def _out_of_memory(reading: Reading) -> bool:
    outcome = reading.record.outcome
    return outcome is not None and outcome.cause is Cause.OUT_OF_MEMORY
