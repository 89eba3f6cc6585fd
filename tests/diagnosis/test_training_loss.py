"""A training loss that rises is a bug."""

from __future__ import annotations

import numpy as np

from simulation import Plan, draw
from small_studies import evidence_of, falling
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.training_loss import training_loss


def rising(by: float, seed: int = 0) -> np.ndarray:
    curve = falling(seed=seed)
    return np.asarray(curve + by * np.clip(np.linspace(-1, 1, len(curve)), 0, None))


def test_a_healthy_study_is_calm() -> None:
    said = training_loss(gather(draw(Plan(seed=4))))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == "train/loss keeps falling or stays level."


def test_the_planted_fault_is_called_a_bug() -> None:
    said = training_loss(gather(draw(Plan(seed=4, train_rise=0.4))))
    assert said.verdict is Verdict.PROBLEM
    assert "train/loss rises again, from 0.0" in said.sentence
    assert said.advice.startswith("Look for a bug: ")


def test_a_rise_in_other_trials_is_watched() -> None:
    calm = [{"valid/error": [0.1], "train/loss": falling(seed=s)} for s in range(10)]
    risen = [{"valid/error": [0.2], "train/loss": rising(0.2, s)} for s in range(20, 23)]
    said = training_loss(evidence_of([*calm, *risen]))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith("train/loss rises in 3 other trials of 12: in trial 1")
    assert "whether they have the highest learning rates" in said.advice
    assert set(said.trials) == {11, 12, 13}


def test_a_small_part_of_the_fall_does_not_count() -> None:
    smooth = falling(noise=1e-6) + 0.01 * np.clip(np.linspace(-1, 1, 60), 0, None)
    said = training_loss(evidence_of([{"valid/error": [0.1], "train/loss": smooth}]))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.endswith("(train/loss is taken to be the training loss.)")


def test_what_is_missing_is_named() -> None:
    said = training_loss(evidence_of([{"valid/error": falling()}]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == (
        "Log the training loss as train/loss, or name it under knobs: train_loss."
    )
    named = training_loss(evidence_of([{"valid/error": falling()}], knobs=Knobs(train_loss="ce")))
    assert named.advice == "Log ce, which the knob train_loss names: no trial has logged it."
    short = training_loss(evidence_of([{"valid/error": [0.1], "train/loss": [2.0, 1.0]}]))
    assert (
        short.sentence == "No finished trial has enough finite points of train/loss: the most is 2."
    )


def test_without_results_the_points_are_not_blamed() -> None:
    said = training_loss(evidence_of([{"valid/error": [1e200] * 30, "train/loss": falling()}]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("No trial has a result, so the rise of train/loss")
    assert said.advice == "Find out first why no trial has a result."
