"""Equal trials: their spread, and the seeds that a difference needs."""

from __future__ import annotations

import pytest

from simulation import Plan, draw
from small_studies import evidence_of
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.replication import replicated, trial_noise, trial_variance


def runs(*values: float, seeds: list[int] | None = None, rates: list[float] | None = None):  # type: ignore[no-untyped-def]
    return evidence_of(
        [{"valid/error": [value]} for value in values],
        rates=rates or [0.1] * len(values),
        seeds=seeds,
    )


def test_without_replicates_the_best_configuration_should_be_repeated() -> None:
    said = trial_variance(runs(0.3, 0.1, rates=[0.1, 0.2]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("No two trials share a configuration")
    assert said.advice == "Run the best configuration (trial 2) with 5 seeds."
    assert trial_variance(evidence_of([])).advice == "Run the study."


def test_two_equal_trials_are_too_few() -> None:
    said = trial_variance(runs(0.100, 0.102))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("Only two trials share a configuration")


def test_a_small_deviation_says_how_many_seeds_a_difference_needs() -> None:
    said = trial_variance(runs(0.1000, 0.1004, 0.0998, 0.1002))
    assert said.verdict is Verdict.GOOD
    assert "with a standard deviation of 0.0002582 (" in said.sentence
    assert "from 4 trials). To see a difference of 0.000998, compare the means of 2 seeds." in (
        said.sentence
    )


def test_a_large_deviation_is_watched() -> None:
    said = trial_variance(runs(0.10, 0.12, 0.11, 0.13))
    assert said.verdict is Verdict.WATCH
    assert "That is more than the difference of interest, 0.001." in said.sentence
    assert said.advice.startswith(
        "Compare configurations by the means of several seeds: 5 of each show a difference of 0.02"
    )


def test_a_seed_that_changes_nothing_is_told() -> None:
    said = trial_variance(runs(0.1, 0.1, 0.1))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.endswith("the program seems to ignore its seed.")


def test_the_same_seed_twice_is_one_run() -> None:
    assert replicated(runs(0.1, 0.1, seeds=[4, 4])) == ()


def test_seeds_that_are_parameters_are_no_part_of_the_configuration() -> None:
    said = evidence_of(
        [{"valid/error": [0.1]}, {"valid/error": [0.2]}, {"valid/error": [0.3]}],
        rates=[0.1, 0.2, 0.3],
        seeds=[0, 0, 0],
        knobs=Knobs(seed_init="lr"),
    )
    noise = trial_noise(said)
    assert noise is not None
    assert noise.sd == pytest.approx(0.1)


def test_replicates_of_a_simulated_study_show_its_noise() -> None:
    noise = trial_noise(gather(draw(Plan(replicates=40, noise=0.01))))
    assert noise is not None
    assert noise.low < 0.01 < noise.high
