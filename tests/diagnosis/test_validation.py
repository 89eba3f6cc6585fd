"""The size of the validation set against the differences of interest."""

from __future__ import annotations

import pytest

from simulation import Plan, draw
from small_studies import evidence_of
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.validation import validation_size


def test_a_healthy_study_is_calm() -> None:
    said = validation_size(gather(draw(Plan(seed=1))))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("With 10,000 validation examples valid/error = 0.1")
    assert "below the difference of interest" in said.sentence


def test_the_planted_fault_is_found() -> None:
    said = validation_size(gather(draw(Plan(seed=1, valid_examples=100))))
    assert said.verdict in (Verdict.WATCH, Verdict.PROBLEM)


def test_an_error_above_the_difference_of_interest_is_watched() -> None:
    values = (0.10, 0.15, 0.20, 0.25, 0.30)
    said = validation_size(
        evidence_of([{"valid/error": [v]} for v in values], knobs=Knobs(valid_examples=400))
    )
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "With 400 validation examples valid/error = 0.1 has a standard error of up to 0.015, more "
        "than the difference of interest, 0.01."
    )
    assert said.advice.startswith("Validate on about 900 examples, or save the predictions")


def test_an_error_above_all_that_tuning_won_is_a_problem() -> None:
    values = (0.10, 0.101, 0.102, 0.103, 0.104)
    said = validation_size(
        evidence_of([{"valid/error": [v]} for v in values], knobs=Knobs(valid_examples=400))
    )
    assert said.verdict is Verdict.PROBLEM


@pytest.mark.parametrize(("metric", "value"), [("loss", 2.5), ("mse", 0.108), ("bpc", 0.97)])
def test_a_loss_has_no_binomial_bound(metric: str, value: float) -> None:
    said = validation_size(
        evidence_of([{metric: [value]}], metric=metric, knobs=Knobs(valid_examples=400))
    )
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith(f"{metric} is no share of 400 examples")
    assert said.advice == "Save a loss for each validation example: its spread gives the error."


def test_an_error_of_nothing_is_a_number() -> None:
    said = validation_size(
        evidence_of([{"valid/error": [1e-310]}] * 2, knobs=Knobs(valid_examples=400))
    )
    assert said.verdict is Verdict.WATCH
    assert said.advice.startswith("Compare larger differences: no set is large enough")


def test_a_perfect_score_bounds_no_error() -> None:
    said = validation_size(evidence_of([{"valid/error": [0.0]}], knobs=Knobs(valid_examples=400)))
    assert said.sentence.startswith("The best valid/error is 0 or 1")


def test_what_is_missing_is_named() -> None:
    said = validation_size(evidence_of([{"valid/error": [0.1]}]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == "Give it under knobs: valid_examples."
    assert validation_size(evidence_of([], knobs=Knobs(valid_examples=9))).verdict is (
        Verdict.UNKNOWN
    )
