"""Noise late in training against what one wants to see."""

from __future__ import annotations

from simulation import Plan, draw
from small_studies import evidence_of, falling
from tunebook.core.findings import Verdict
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.late_variance import late_variance


def test_a_healthy_study_is_calm() -> None:
    said = late_variance(gather(draw(Plan(seed=6))))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("Late in the best trials valid/error varies by 0.00")


def test_noise_above_the_difference_of_interest_is_loud() -> None:
    said = late_variance(evidence_of([{"valid/error": falling(noise=0.01)}]))
    assert said.verdict is Verdict.PROBLEM
    assert "from one evaluation to the next" in said.sentence
    assert "times the difference of interest" in said.sentence
    assert said.advice.startswith("Decay the learning rate or average the weights")


def test_the_planted_fault_is_found() -> None:
    said = late_variance(gather(draw(Plan(jitter=0.03))))
    assert said.verdict is Verdict.PROBLEM


def test_noise_below_the_luck_of_equal_trials_does_not_matter() -> None:
    trials = [
        {"valid/error": falling(noise=0.003, end=end, seed=s)}
        for s, end in enumerate((0.10, 0.12, 0.14, 0.16))
    ]
    said = late_variance(evidence_of(trials, rates=[0.1] * 4))
    assert said.verdict is Verdict.GOOD
    assert "the standard deviation between equal trials is 0.02" in said.sentence
    assert late_variance(evidence_of(trials)).verdict is Verdict.PROBLEM


def test_noise_that_may_be_small_is_unknown() -> None:
    said = late_variance(evidence_of([{"valid/error": falling(points=16, end=0.2, noise=0.002)}]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("Whether valid/error varies too much late in the best trial (1")
    assert "with a standard error of 0.00" in said.sentence
    assert said.advice == "Evaluate more often at the end of a trial."


def test_a_constant_metric_has_no_noise_to_judge() -> None:
    said = late_variance(evidence_of([{"valid/error": [0.5] * 30}]))
    assert (said.verdict, said.sentence) == (
        Verdict.UNKNOWN,
        "All values of valid/error are equal: 0.5.",
    )


def test_a_trend_is_no_noise() -> None:
    said = late_variance(evidence_of([{"valid/error": falling(noise=1e-6)}]))
    assert said.verdict is Verdict.GOOD


def test_a_steep_beginning_is_not_late() -> None:
    curve = falling(points=10, noise=1e-4)
    assert late_variance(evidence_of([{"valid/error": curve}])).verdict is Verdict.UNKNOWN


def test_too_few_points_are_named() -> None:
    said = late_variance(evidence_of([{"valid/error": [0.3, 0.1]}]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == "Evaluate at least 16 times in a trial, at regular steps."
