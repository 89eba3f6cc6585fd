"""The difference of interest: what it is of few and many trials, shares and losses."""

from __future__ import annotations

import math

import pytest

from small_studies import evidence_of
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.effects import difference_of_interest, gain_of_tuning, least_loss


def test_of_few_trials_it_is_a_hundredth_of_the_error() -> None:
    said = evidence_of([{"valid/error": [0.5, 0.2]}, {"valid/error": [0.5, 0.3]}])
    assert difference_of_interest(said) == pytest.approx(0.002)
    assert gain_of_tuning(said) is None


def test_of_an_accuracy_it_is_a_hundredth_of_what_is_missing() -> None:
    said = evidence_of([{"valid/error": [0.5, 0.98]}], better="higher")
    assert difference_of_interest(said) == pytest.approx(0.0002)


def test_the_distance_from_chance_counts_where_it_is_smaller() -> None:
    said = evidence_of([{"loss": [10.0, 8.0]}], metric="loss", knobs=Knobs(chance=9.0))
    assert difference_of_interest(said) == pytest.approx(0.01)


def test_of_many_trials_it_is_at_least_a_tenth_of_what_tuning_won() -> None:
    said = evidence_of([{"valid/error": [v]} for v in (0.1, 0.2, 0.3, 0.35, 0.4)])
    assert gain_of_tuning(said) == pytest.approx(0.2)
    assert difference_of_interest(said) == pytest.approx(0.02)


def test_nothing_measured_and_nothing_left_have_none() -> None:
    assert difference_of_interest(evidence_of([])) is None
    assert difference_of_interest(evidence_of([{"other": [1.0]}])) is None


def test_a_perfect_score_has_the_distance_to_the_other_end() -> None:
    assert difference_of_interest(evidence_of([{"valid/error": [0.0]}])) == pytest.approx(0.01)


def test_errors_end_at_zero_and_accuracies_at_one() -> None:
    assert least_loss(evidence_of([{"valid/error": [0.5, 0.2]}])) == 0.0
    assert least_loss(evidence_of([{"valid/error": [0.5, 0.98]}], better="higher")) == -1.0
    assert least_loss(evidence_of([{"loss": [0.5, -0.2]}], metric="loss")) == -math.inf


@pytest.mark.parametrize("metric", ["valid/mse", "valid/loss", "valid/bpc"])
def test_a_loss_below_one_does_not_end_at_one(metric: str) -> None:
    said = evidence_of([{metric: [1.0, 0.97]}], metric=metric)
    assert difference_of_interest(said) == pytest.approx(0.0097)
    gained = evidence_of([{"valid/likelihood": [0.98]}], metric="valid/likelihood", better="higher")
    assert least_loss(gained) == -math.inf
