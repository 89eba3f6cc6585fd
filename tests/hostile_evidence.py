"""Evidence as bad as it may come: no trials, no results, NaN, constants, parameters that are not.

Small studies can also be spelt out: `evidence_of` takes a space and a line for each trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from strategies import spaces
from tunebook.core.curves import Curve
from tunebook.core.domains import Choice, Float, Int
from tunebook.core.evidence import Evidence
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Derived, Fixed, Parameter, Role, Setting, Space
from tunebook.core.study import Study
from tunebook.core.trials import Adaptive, FromSequence, Outcome, OutcomeKind, Trial
from tunebook.diagnosis.gathering import gather

METRIC = "valid/error"
COMPLETE = Outcome(OutcomeKind.COMPLETE, "finished")
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "valid/error is NaN")


@dataclass(frozen=True)
class Ran:
    """One trial: its place in the unit cube, its curves or its result, and how it ended."""

    point: Mapping[str, float] = field(default_factory=dict)
    value: float | None = None
    curves: Mapping[str, Curve] | None = None
    outcome: Outcome | None = COMPLETE
    setting: Setting = field(default_factory=Setting)
    seconds: float = 1.0
    adaptive: bool = False


def evidence_of(
    space: Space, ran: Sequence[Ran], objective: Objective | None = None, **study: object
) -> Evidence:
    """Evidence of trials, numbered from 1; a value is a curve of one point at step 100."""
    made = Study("study", space, objective or Objective(Metric(METRIC)), **study)  # type: ignore[arg-type]
    records = [_record(made, number, one) for number, one in enumerate(ran, start=1)]
    return gather(Results(made, tuple(records)))


def _record(study: Study, number: int, ran: Ran) -> TrialRecord:
    config = study.config(ran.setting, ran.point)
    origin = Adaptive(number, "ei", number - 1) if ran.adaptive else FromSequence(number - 1)
    trial = Trial(study.name, number, ran.setting, config, number, origin)
    curves = ran.curves
    if curves is None:
        alone = {} if ran.value is None else {study.objective.metric.name: ([100], [ran.value])}
        curves = {name: Curve.of(*points) for name, points in alone.items()}
    attempt = AttemptRecord(1, "token", "", outcome=ran.outcome, seconds=ran.seconds)
    return TrialRecord(trial, (attempt,), curves)


_numbers = st.one_of(
    st.floats(),
    st.sampled_from([0.0, 0.1, -1.0, 1e-320, 1e308, -1e308, np.nan, np.inf, -np.inf]),
    st.floats(0.01, 1.0),
)


@st.composite
def _curve(draw: st.DrawFn) -> Curve:
    n = draw(st.integers(0, 8))
    steps = np.cumsum(draw(st.lists(st.integers(1, 1000), min_size=n, max_size=n)))
    if draw(st.booleans()):
        return Curve.of(steps, np.full(n, draw(_numbers)))
    return Curve.of(steps, draw(st.lists(_numbers, min_size=n, max_size=n)))


# Both kinds of scientific parameter, both scales, and parameters that exist here and there.
RICH = Space.of(
    scientific={
        "optimiser": ["adam", "sgd"],
        "decay": Parameter("decay", Role.SCIENTIFIC, Float(1e-6, 1e-2, log=True), buckets=3),
        "layers": Int(1, 8, log=True),
    },
    nuisance={
        "rate": Float(1e-4, 1.0, log=True),
        "momentum": Float(0.0, 0.99, limit="low"),
        "act": Choice(("relu", None, True, 1)),
        "slope": Float(0, 1),
    },
    when={"momentum": {"optimiser": "sgd"}, "slope": {"act": "relu"}},
)


@st.composite
def _spaces(draw: st.DrawFn) -> Space:
    """Any space, but for what cannot be run.

    What is derived from a text cannot be computed, and a fixed value that depends on a sampled one
    must not decide which settings there are.
    """
    return Space(
        tuple(
            replace(p, when=()) if isinstance(p.source, Fixed) else p
            for p in draw(spaces(most=5))
            if not isinstance(p.source, Derived)
        )
    )


@st.composite
def _runs(draw: st.DrawFn, space: Space, setting: Setting, healthy: bool) -> Ran:
    units = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)
    names = [METRIC, "train/loss", "grad_norm", "<img onerror=x>\u202e"]
    outcomes = [None, *(Outcome(kind, f"{kind}\n<b>") for kind in OutcomeKind)]
    return Ran(
        {p.name: draw(units) for p in space.searched(setting)},
        draw(st.floats(-1, 1)) if healthy else None,
        None if healthy else draw(st.dictionaries(st.sampled_from(names), _curve())),
        COMPLETE if healthy else draw(st.sampled_from(outcomes) | st.just(COMPLETE)),
        setting,
        draw(st.sampled_from([0.0, 1.0, 1e9])),
        draw(st.integers(0, 9)) == 0,
    )


@st.composite
def evidences(draw: st.DrawFn, most: int = 20) -> Evidence:
    """Evidence of any space: conditional parameters, only choices, bounds of any size."""
    space = draw(st.just(RICH) | _spaces())
    settings = st.sampled_from(space.settings())
    kinds = draw(st.sampled_from([(True,), (False,), (True, True, False)]))
    ran = [
        draw(_runs(space, draw(settings), draw(st.sampled_from(kinds))))
        for _ in range(draw(st.integers(0, most)))
    ]
    metric = Metric(METRIC, draw(st.sampled_from(["lower", "higher"])))
    objective = Objective(metric, draw(st.sampled_from(["best", "last", "mean"])))
    knobs = Knobs(train_loss="train/loss", grad_norm="grad_norm")
    return evidence_of(space, ran, objective, knobs=knobs)
