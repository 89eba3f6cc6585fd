"""Which logged metric plays which part."""

from __future__ import annotations

import numpy as np

from small_studies import evidence_of
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.signals import (
    finite_points,
    losses_of,
    signal,
    to_log,
    validation_losses,
)


def test_a_knob_comes_before_a_usual_name() -> None:
    trial = {"valid/error": [0.1], "ce": [1.0], "train/loss": [2.0]}
    found = signal(evidence_of([trial], knobs=Knobs(train_loss="ce")), "train_loss")
    assert found is not None
    assert (found.metric, found.guessed, found.note) == ("ce", False, "")


def test_a_usual_name_is_a_guess() -> None:
    found = signal(evidence_of([{"valid/error": [0.1], "loss": [1.0]}]), "train_loss")
    assert found is not None
    assert found.note == "loss is taken to be the training loss"


def test_the_objective_is_never_taken_for_the_training_loss() -> None:
    assert signal(evidence_of([{"loss": [1.0]}], metric="loss"), "train_loss") is None


def test_a_knob_that_nobody_logged_is_no_signal() -> None:
    evidence = evidence_of([{"valid/error": [0.1], "loss": []}], knobs=Knobs(train_loss="loss"))
    assert signal(evidence, "train_loss") is None
    assert to_log(evidence, "train_loss") == (
        "Log loss, which the knob train_loss names: no trial has logged it."
    )


def test_validation_losses_are_told_by_their_names() -> None:
    names = (
        "valid/error",
        "valid/loss",
        "val_loss",
        "eval/nll",
        "train/loss",
        "loss",
        "value/loss",
    )
    evidence = evidence_of([{name: [0.1] for name in names}])
    assert validation_losses(evidence) == ("eval/nll", "val_loss", "valid/loss")


def test_losses_are_finite_and_lower_is_better() -> None:
    evidence = evidence_of([{"valid/error": [0.1, np.nan, 0.4]}], better="higher")
    steps, losses = losses_of(evidence, evidence.readings[0])
    assert (steps.tolist(), losses.tolist()) == ([10.0, 30.0], [-0.1, -0.4])
    assert len(finite_points(None)[0]) == 0
