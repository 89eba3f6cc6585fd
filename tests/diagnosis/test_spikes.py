"""Spikes of losses and norms: seen in the best trials, counted in the others."""

from __future__ import annotations

import numpy as np

from simulation import Plan, draw
from small_studies import evidence_of, falling
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.spikes import MOST_LOOKED_AT, spikes

LOGGED = Knobs(train_loss="loss", grad_norm="norm")


def noisy(points: int = 200, sd: float = 0.1, seed: int = 0) -> np.ndarray:
    return np.asarray(np.exp(sd * np.random.default_rng(seed).normal(size=points)))


def with_spikes(values: np.ndarray, *at: int, factor: float) -> np.ndarray:
    values = values.copy()
    values[list(at)] *= factor
    return values


def test_a_healthy_study_is_calm() -> None:
    said = spikes(gather(draw(Plan(seed=2))))
    assert said.verdict is Verdict.GOOD
    assert "train/loss has no spikes in 32 trials; grad_norm has no spikes in 32" in said.sentence


def test_one_spike_of_the_best_trial_is_watched() -> None:
    curve = with_spikes(noisy(), 120, factor=4.0)
    said = spikes(evidence_of([{"valid/error": [0.1], "loss": curve}], knobs=LOGGED))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith("In the best trial (1) loss jumps to 4 times its level at step")
    assert "1,210" in said.sentence
    assert said.advice.startswith("Clip gradients at the 90th percentile of their norms")


def test_spikes_that_come_back_are_a_problem() -> None:
    curve = with_spikes(noisy(), 60, 100, 140, 180, factor=30.0)
    said = spikes(evidence_of([{"valid/error": [0.1], "norm": curve}], knobs=LOGGED))
    assert said.verdict is Verdict.PROBLEM
    assert "norm spikes 4 times, once to" in said.sentence


def test_norms_that_merely_vary_are_no_outliers() -> None:
    curve = noisy(sd=0.5)
    assert (
        spikes(evidence_of([{"valid/error": [0.1], "norm": curve}], knobs=LOGGED)).verdict
        is Verdict.GOOD
    )


def test_spikes_beside_the_best_count_when_they_are_common() -> None:
    calm = {"valid/error": [0.1], "loss": noisy()}
    spiky = {"valid/error": [0.2], "loss": with_spikes(noisy(), 90, factor=5.0)}
    rare = spikes(evidence_of([calm] * 19 + [spiky], knobs=LOGGED))
    assert rare.verdict is Verdict.GOOD
    assert rare.sentence == "loss spikes in 1 of 20 trials. The best trials have none."
    common = spikes(evidence_of([calm] * 6 + [spiky] * 4, knobs=LOGGED))
    assert common.verdict is Verdict.WATCH
    assert common.sentence == "loss spikes in 40% of the trials (4 of 10)."
    assert common.trials == (7, 8, 9, 10)


def test_the_planted_fault_is_found() -> None:
    assert spikes(gather(draw(Plan(seed=3, spikes=4)))).verdict is Verdict.PROBLEM


def test_a_usual_name_is_taken_and_said() -> None:
    said = spikes(evidence_of([{"valid/error": [0.1], "grad_norm": noisy()}], knobs=Knobs()))
    assert said.verdict is Verdict.GOOD
    assert "(grad_norm is taken to be the gradient norm.)" in said.sentence


def test_a_loss_that_leaves_for_good_is_no_spike() -> None:
    curve = np.concatenate([noisy(100), 50 * noisy(100)])
    said = spikes(evidence_of([{"valid/error": [0.1], "loss": curve}], knobs=LOGGED))
    assert said.verdict is Verdict.GOOD


def test_norms_that_rise_during_warmup_are_no_spike() -> None:
    ramp = np.concatenate([np.full(6, 0.05), np.geomspace(3.0, 1.0, 194)])
    trial = {"valid/error": [0.1], "norm": ramp * noisy(sd=0.05)}
    assert spikes(evidence_of([trial], knobs=LOGGED)).verdict is Verdict.GOOD


def test_what_is_missing_is_named() -> None:
    said = spikes(evidence_of([{"valid/error": falling()}], knobs=Knobs()))
    assert said.verdict is Verdict.UNKNOWN
    assert "Log the gradient norm as grad_norm, or name it under knobs: grad_norm." in said.advice
    short = spikes(evidence_of([{"valid/error": [0.1], "loss": [1.0] * 19}], knobs=LOGGED))
    assert short.sentence == "No trial has 20 points of loss."


def test_of_a_large_study_some_trials_and_the_best_are_looked_at() -> None:
    calm = {"valid/error": [0.2], "loss": noisy(40)}
    best = {"valid/error": [0.1], "loss": with_spikes(noisy(40), 30, factor=9.0)}
    trials = [calm] * (2 * MOST_LOOKED_AT + 2)
    trials[11] = best
    said = spikes(evidence_of(trials, rates=[0.1] * len(trials), knobs=LOGGED))
    assert said.trials == (12,)
