"""Better than chance, and clearly so."""

from __future__ import annotations

import numpy as np

from hostile_evidence import DIVERGED, METRIC, Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.curves import Curve
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.diagnosis.baseline import baseline
from tunebook.diagnosis.gathering import gather

SPACE = Space.of(nuisance={"rate": Float(0, 1)})


def evidence(
    values: list[float], chance: float | None = 0.9, examples: int | None = None, **study: object
) -> Evidence:
    ran = [Ran({"rate": 0.5}, value) for value in values]
    knobs = Knobs(chance=chance, valid_examples=examples)
    return evidence_of(SPACE, ran, knobs=knobs, **study)  # type: ignore[arg-type]


def test_a_healthy_study_is_clearly_better() -> None:
    said = baseline(gather(draw(Plan(seed=1))))
    assert said.verdict is Verdict.GOOD
    assert "clearly better than chance (0.9)." in said.sentence


def test_trials_at_chance_are_counted_beside_the_best() -> None:
    said = baseline(evidence([0.1, 0.2, 0.9, 0.91]))
    assert said.sentence == (
        "The best trial (1) reaches valid/error 0.1, clearly better than chance (0.9); 50% of the "
        "trials are better than that."
    )


def test_nothing_better_than_chance_is_a_problem() -> None:
    said = baseline(evidence([0.9, 0.95]))
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence == "None of 2 trials is better than chance (0.9)."
    assert said.trials == (1, 2)


def diverged(value: float) -> Ran:
    return Ran({"rate": 0.5}, value, outcome=DIVERGED)


def test_trials_that_do_not_work_may_be_better_than_chance() -> None:
    learnt = [Ran({"rate": 0.5}, 0.1), diverged(0.5), diverged(0.95), diverged(0.3)]
    said = baseline(evidence_of(SPACE, learnt, knobs=Knobs(chance=0.9)))
    assert said.sentence.endswith("; 75% of the trials are better than that.")


def test_when_none_has_a_result_that_is_not_called_chance() -> None:
    said = baseline(evidence_of(SPACE, [diverged(0.5), diverged(0.95)], knobs=Knobs(chance=0.9)))
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence == (
        "No trial has a result, though 1 of 2 trials was better than chance (0.9) at some step."
    )


def test_few_examples_make_a_small_gain_unclear() -> None:
    assert baseline(evidence([0.8], examples=10_000)).verdict is Verdict.GOOD
    said = baseline(evidence([0.8], examples=100))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "The best trial (1) reaches valid/error 0.8, hardly better than chance (0.9): the gain is "
        "0.1, where 0.15 would be clear."
    )


def test_a_metric_that_scatters_makes_a_small_gain_unclear() -> None:
    for swing, verdict in ((0.001, Verdict.GOOD), (0.04, Verdict.WATCH)):
        values = 0.85 + swing * np.array([1, -1] * 10)
        ran = [Ran({"rate": 0.5}, curves={METRIC: Curve.of(np.arange(20), values)})]
        said = evidence_of(SPACE, ran, knobs=Knobs(chance=0.9))
        assert baseline(said).verdict is verdict


def test_higher_may_be_better() -> None:
    objective = Objective(Metric(METRIC, "higher"))
    assert baseline(evidence([0.8], 0.1, objective=objective)).verdict is Verdict.GOOD
    assert baseline(evidence([0.09], 0.1, objective=objective)).verdict is Verdict.PROBLEM


def test_without_the_chance_level_it_is_unknown() -> None:
    said = baseline(evidence([0.1], chance=None))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == "Give the knob chance: the valid/error of guessing."


def test_without_trials_it_is_unknown() -> None:
    assert baseline(evidence([])).verdict is Verdict.UNKNOWN
