"""Which trials count: by their ends, and by their values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile_evidence import METRIC, Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.curves import Curve
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence, Standing
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Constraint, Metric, Objective
from tunebook.core.space import Space
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.diagnosis.gathering import FAR_OUT, LARGEST, gather

SPACE = Space.of(nuisance={"rate": Float(1e-4, 1.0, log=True)})


def evidence(values: list[float], **study: object) -> Evidence:
    places = np.linspace(0, 1, len(values))
    ran = [Ran({"rate": float(x)}, value) for x, value in zip(places, values, strict=True)]
    return evidence_of(SPACE, ran, **study)  # type: ignore[arg-type]


def standings(evidence: Evidence) -> list[str]:
    return [reading.standing.value for reading in evidence.readings]


@pytest.mark.parametrize(
    ("kind", "standing"),
    [
        (OutcomeKind.STOPPED, Standing.CENSORED),
        (OutcomeKind.INFEASIBLE, Standing.INFEASIBLE),
        (OutcomeKind.FAILED, Standing.BROKEN),
        (OutcomeKind.CRASHED, Standing.BROKEN),
        (OutcomeKind.PREEMPTED, Standing.PENDING),
        (OutcomeKind.CANCELLED, Standing.PENDING),
    ],
)
def test_what_did_not_complete_has_no_value(kind: OutcomeKind, standing: Standing) -> None:
    ran = Ran({"rate": 0.5}, 0.2, outcome=Outcome(kind, "because"))
    [reading] = evidence_of(SPACE, [ran]).readings
    assert (reading.standing, reading.value, reading.why) == (standing, None, "because")


def test_a_running_trial_is_pending() -> None:
    [reading] = evidence_of(SPACE, [Ran({"rate": 0.5}, 0.2, outcome=None)]).readings
    assert (reading.standing, reading.value) == (Standing.PENDING, None)


def test_what_is_no_better_than_chance_is_infeasible() -> None:
    said = evidence([0.1, 0.5, 0.899, 0.9, 0.95], knobs=Knobs(chance=0.9))
    assert standings(said) == ["measured"] * 2 + ["infeasible"] * 3
    assert said.readings[3].why == "0.9 is no better than chance (0.9)"
    assert all(reading.value is None for reading in said.readings[2:])


def test_chance_is_at_the_other_end_where_higher_is_better() -> None:
    objective = Objective(Metric(METRIC, "higher"))
    said = evidence([0.9, 0.5, 0.1, 0.05], objective=objective, knobs=Knobs(chance=0.1))
    assert standings(said) == ["measured", "measured", "infeasible", "infeasible"]


def test_what_collapses_to_chance_has_diverged() -> None:
    curve = Curve.of([1, 2, 3], [0.5, 0.2, 0.9])
    good = Ran({"rate": 0.1}, 0.2)
    ran = [good, Ran({"rate": 0.5}, curves={METRIC: curve})]
    said = evidence_of(SPACE, ran, knobs=Knobs(chance=0.9))
    assert standings(said) == ["measured", "infeasible"]
    assert said.readings[1].why == "it ended at 0.9, no better than chance (0.9)"


def test_without_a_chance_level_only_the_far_out_are_infeasible() -> None:
    values = [0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 5.0]
    said = evidence(values)
    assert standings(said) == ["measured"] * 7 + ["infeasible"]
    assert said.readings[7].why == f"5 is over {FAR_OUT:g} deviations worse than the median"


@pytest.mark.parametrize("value", [1e200, -1e200])
def test_a_value_too_large_to_reckon_with_has_diverged(value: float) -> None:
    said = evidence([0.1, value])
    assert standings(said) == ["measured", "infeasible"]
    assert said.readings[1].why == f"{value:g} is too large"


def test_a_far_better_value_is_no_fault() -> None:
    assert set(standings(evidence([-5.0, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17]))) == {
        "measured"
    }


@pytest.mark.parametrize("values", [[0.1, 5.0], [0.1] * 7 + [5.0]])
def test_few_or_equal_values_have_no_spread_to_be_out_of(values: list[float]) -> None:
    assert set(standings(evidence(values))) == {"measured"}


def test_a_curve_that_ends_in_nan_has_diverged() -> None:
    curve = Curve.of([1, 2, 3, 4], [0.5, 0.3, np.nan, np.nan])
    [reading] = evidence_of(SPACE, [Ran({"rate": 0.5}, curves={METRIC: curve})]).readings
    assert (reading.standing, reading.value) == (Standing.INFEASIBLE, None)
    assert reading.why == f"{METRIC} is not finite from step 3 on"


def test_a_nan_on_the_way_is_forgiven() -> None:
    curve = Curve.of([1, 2, 3], [0.5, np.nan, 0.3])
    [reading] = evidence_of(SPACE, [Ran({"rate": 0.5}, curves={METRIC: curve})]).readings
    assert (reading.standing, reading.value) == (Standing.MEASURED, 0.3)


@pytest.mark.parametrize("curves", [{}, {METRIC: Curve.of([], [])}])
def test_a_complete_trial_without_the_metric_is_broken(curves: dict[str, Curve]) -> None:
    [reading] = evidence_of(SPACE, [Ran({"rate": 0.5}, curves=curves)]).readings
    assert (reading.standing, reading.why) == (Standing.BROKEN, f"it logged no {METRIC}")


def test_a_constraint_that_never_holds_makes_a_trial_infeasible() -> None:
    objective = Objective(Metric(METRIC), constraints=(Constraint("latency", at_most=30),))
    curves = [
        {METRIC: Curve.of([1], [0.2]), "latency": Curve.of([1], [latency])} for latency in (20, 40)
    ]
    ran = [Ran({"rate": 0.5}, curves=one) for one in curves]
    said = evidence_of(SPACE, ran, objective)
    assert standings(said) == ["measured", "infeasible"]
    assert said.readings[1].why == "at no step did latency <= 30 hold"


def test_another_objective_reads_the_same_curves_anew() -> None:
    curve = Curve.of([1, 2, 3], [0.5, 0.2, 0.3])
    said = evidence_of(SPACE, [Ran({"rate": 0.5}, curves={METRIC: curve})])
    last = gather(said.results, Objective(Metric(METRIC), "last"))
    assert [(r.value, r.step) for e in (said, last) for r in e.readings] == [(0.2, 2), (0.3, 3)]
    assert last.objective.reduction == "last"


def test_chance_and_target_belong_to_their_metric() -> None:
    curves = {METRIC: Curve.of([1], [0.2]), "loss": Curve.of([1], [1.5])}
    knobs = Knobs(chance=0.9, target=0.1)
    said = evidence_of(SPACE, [Ran({"rate": 0.5}, curves=curves)], knobs=knobs)
    loss = gather(said.results, Objective(Metric("loss")))
    assert standings(loss) == ["measured"]
    assert (loss.study.knobs.chance, loss.study.knobs.target) == (None, None)
    assert loss.study.objective == loss.objective
    last = gather(said.results, Objective(Metric(METRIC), "last"))
    assert (last.study.knobs.chance, last.study.knobs.target) == (0.9, 0.1)


def test_replicates_and_guided_trials_are_not_sampled() -> None:
    ran = [Ran({"rate": 0.5}, 0.2), Ran({"rate": 0.6}, 0.2, adaptive=True)]
    assert [reading.is_sampled for reading in evidence_of(SPACE, ran).readings] == [True, False]


def test_a_healthy_study_has_results_only() -> None:
    said = gather(draw(Plan(seed=7)))
    assert set(standings(said)) == {"measured"}
    assert len(said.readings) == 32


@given(st.lists(st.floats(), max_size=30), st.none() | st.floats(allow_nan=False, width=16))
def test_only_what_is_measured_has_a_finite_value(
    values: list[float], chance: float | None
) -> None:
    known = chance if chance is None or np.isfinite(chance) else None
    said = evidence(values, knobs=Knobs(chance=known))
    assert len(said.readings) == len(values)
    for reading in said.readings:
        measured = reading.standing is Standing.MEASURED
        assert (reading.value is not None) == measured
        assert reading.value is None or np.isfinite(reading.value)
        assert measured or reading.why
    if said.best is not None:
        finite = [v for v in values if abs(v) <= LARGEST]
        assert said.best.value == min(finite)
