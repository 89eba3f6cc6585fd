"""Studies of a few trials with given curves, as analysis reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tunebook.core.curves import Curve
from tunebook.core.domains import Float, Value
from tunebook.core.evidence import Evidence
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Better, Metric, Objective
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting, Space
from tunebook.core.study import Budget, Study
from tunebook.core.trials import FromSequence, Outcome, OutcomeKind, Trial
from tunebook.diagnosis.gathering import gather

FINISHED = Outcome(OutcomeKind.COMPLETE, "finished")
RATES = Float(1e-4, 1.0, log=True)


def evidence_of(
    trials: Sequence[Mapping[str, ArrayLike | Curve]],
    *,
    rates: Sequence[float] | None = None,
    fixed: Mapping[str, Value] | None = None,
    space: Space | None = None,
    knobs: Knobs | None = None,
    metric: str = "valid/error",
    better: Better = "lower",
    outcomes: Sequence[Outcome] | None = None,
    seeds: Sequence[int] | None = None,
    budget: Budget | None = None,
) -> Evidence:
    """Evidence of trials by their metrics; a metric's values are at steps 10, 20, 30, ..."""
    study = Study(
        "small",
        space or Space.of(nuisance={"lr": RATES}, fixed=fixed),
        Objective(Metric(metric, better)),
        trials=max(len(trials), 1),
        knobs=knobs or Knobs(learning_rate="lr"),
        budget=budget,
    )
    records = []
    for i, metrics in enumerate(trials):
        rate = rates[i] if rates is not None else 0.01 * 1.1**i
        config = {"lr": rate, **(fixed or {})}
        seed = seeds[i] if seeds is not None else i
        trial = Trial("small", i + 1, Setting(), config, seed, FromSequence(i))
        outcome = FINISHED if outcomes is None else outcomes[i]
        attempt = AttemptRecord(1, "token", "", outcome=outcome)
        curves = {name: as_curve(values) for name, values in metrics.items()}
        records.append(TrialRecord(trial, (attempt,), curves))
    return gather(Results(study, tuple(records)))


def as_curve(values: ArrayLike | Curve) -> Curve:
    if isinstance(values, Curve):
        return values
    y = np.asarray(values, dtype=float)
    return Curve.of(10 * np.arange(1, len(y) + 1), y)


def falling(points: int = 60, end: float = 0.1, noise: float = 0.002, seed: int = 0) -> np.ndarray:
    """A curve that falls from 0.9 to a plateau with independent noise."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0, 1, points)
    return np.asarray(end + (0.9 - end) * np.exp(-10 * share) + noise * rng.normal(size=points))
