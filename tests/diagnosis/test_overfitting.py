"""Overfitting: in the best trials, in others, and what is none."""

from __future__ import annotations

import numpy as np

from simulation import Plan, draw
from small_studies import evidence_of, falling
from tunebook.core.domains import Float
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Objective
from tunebook.core.space import Space
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.overfitting import overfitting


def rising(by: float, **kind: float) -> np.ndarray:
    curve = falling(**kind)  # type: ignore[arg-type]
    return np.asarray(curve + by * np.clip(np.linspace(-1, 1, len(curve)), 0, None))


def test_healthy_studies_are_calm() -> None:
    for seed in range(3):
        said = overfitting(gather(draw(Plan(seed=seed, rho=0.5, evaluations=60))))
        assert said.verdict is Verdict.GOOD
    assert said.sentence == (
        "valid/error does not get worse again in the best trials, beyond its noise."
    )


def test_the_best_trial_overfits() -> None:
    said = overfitting(evidence_of([{"valid/error": rising(0.05)}]))
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence.startswith("In the best trial (1) valid/error rises from 0.1")
    assert " to 0.147" in said.sentence
    assert said.sentence.endswith("times its noise.")
    assert said.advice.startswith(
        "Search a regulariser more strongly in the next study (weight decay, dropout, augmentation)"
    )
    assert 250 <= said.numbers["step"] <= 400


def test_an_accuracy_falls() -> None:
    said = overfitting(evidence_of([{"acc": 1 - rising(0.05)}], metric="acc", better="higher"))
    assert said.verdict is Verdict.PROBLEM
    assert "acc falls from 0.89" in said.sentence


def test_a_rise_of_no_interest_is_none() -> None:
    said = overfitting(evidence_of([{"valid/error": rising(0.0008, noise=1e-6)}]))
    assert said.verdict is Verdict.GOOD


def test_every_setting_is_judged_by_its_own_best() -> None:
    said = overfitting(gather(draw(Plan(settings=2, overfit=0.04))))
    assert said.verdict is Verdict.PROBLEM
    assert "of variant=" in said.sentence
    assert "The same holds for the best trial" in said.sentence


def test_other_trials_are_watched() -> None:
    calm = [{"valid/error": falling(end=0.1 + 0.01 * s, seed=s)} for s in range(12)]
    overfit = [{"valid/error": rising(0.1, end=0.15, seed=s)} for s in range(20, 23)]
    said = overfitting(evidence_of([*calm, *overfit]))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith("3 other trials of 14 overfit: in trial ")
    assert set(said.trials) == {13, 14, 15}


def test_the_rate_acts_as_the_regulariser() -> None:
    calm = [{"valid/error": falling(end=0.1 + 0.01 * s, seed=s)} for s in range(8)]
    overfit = [{"valid/error": rising(0.1, end=0.15, seed=s)} for s in range(20, 26)]
    rates = [0.001 * 1.2**i for i in range(8)] + [0.1 * 1.2**i for i in range(6)]
    said = overfitting(evidence_of([*calm, *overfit], rates=rates))
    assert "the best trial a low one (0.001" in said.sentence
    assert said.sentence.endswith("the rate acts as the regulariser.")


def test_a_collapse_is_not_overfitting() -> None:
    calm = [{"valid/error": falling(seed=s)} for s in range(6)]
    collapsed = [{"valid/error": rising(0.7, end=0.15, seed=s)} for s in range(3)]
    assert overfitting(evidence_of([*calm, *collapsed])).verdict is Verdict.GOOD


def test_where_the_training_loss_rises_too_it_is_not_overfitting() -> None:
    both = {"valid/error": rising(0.05), "train/loss": rising(0.2)}
    assert overfitting(evidence_of([both])).verdict is Verdict.GOOD
    alone = {"valid/error": rising(0.05), "train/loss": falling()}
    assert overfitting(evidence_of([alone])).verdict is Verdict.PROBLEM


def test_a_validation_loss_that_rises_alone_is_a_note() -> None:
    said = overfitting(evidence_of([{"valid/error": falling(), "valid/loss": rising(0.3)}]))
    assert said.verdict is Verdict.GOOD
    assert "valid/loss alone rises in trial 1, from 0.1" in said.sentence


def test_it_is_silent_where_a_regulariser_is_scientific() -> None:
    space = Space.of(
        scientific={"weight_decay": Float(1e-5, 1e-1, log=True)},
        nuisance={"lr": Float(1e-4, 1.0, log=True)},
    )
    for knobs in (Knobs(), Knobs(no_regularisation=(("weight_decay", 0.0),))):
        said = overfitting(evidence_of([{"valid/error": rising(0.05)}], space=space, knobs=knobs))
        assert said.verdict is Verdict.UNKNOWN
        assert said.sentence.startswith("The study is about weight_decay")


def test_the_studys_own_regularisers_are_advised() -> None:
    said = overfitting(gather(draw(Plan(overfit=0.04))))
    assert "(weight_decay, dropout)" in said.advice


def test_it_is_about_the_objective_in_force() -> None:
    results = draw(Plan(overfit=0.05))
    other = Objective(type(results.study.objective.metric)("train/loss"))
    assert overfitting(gather(results, other)).verdict is Verdict.GOOD


def test_too_few_points_are_named() -> None:
    said = overfitting(evidence_of([{"valid/error": [0.5, 0.3, 0.4]}]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == "Evaluate at least 10 times in a trial, at regular steps."
    assert overfitting(evidence_of([])).verdict is Verdict.UNKNOWN
