"""Still improving, saturated early, or neither."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import Plan, draw
from small_studies import evidence_of, falling
from tunebook.core.findings import Verdict
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.progress import improving, saturated


@pytest.mark.parametrize("seed", range(3))
def test_healthy_studies_are_calm(seed: int) -> None:
    evidence = gather(draw(Plan(seed=seed)))
    still, early = improving(evidence), saturated(evidence)
    assert (still.verdict, early.verdict) == (Verdict.GOOD, Verdict.GOOD)
    assert "not clearly more than the difference of interest" in still.sentence
    assert early.sentence.startswith("The best trials come within 0.00")


def test_a_study_that_is_too_short_still_improves() -> None:
    said = improving(gather(draw(Plan(plateau=2.0))))
    assert said.verdict is Verdict.PROBLEM
    assert "still improves at the end: a quarter more training at that pace would gain" in (
        said.sentence
    )
    assert "is of interest." in said.sentence
    assert said.advice.startswith("Train longer: try 8,000 steps")


def test_a_gain_of_little_interest_is_calm() -> None:
    curve = 0.2 - 1e-5 * np.arange(60)
    assert improving(evidence_of([{"valid/error": curve}])).verdict is Verdict.GOOD


def test_an_accuracy_improves_upwards() -> None:
    curve = np.linspace(0.2, 0.7, 40)
    said = improving(evidence_of([{"valid/error": curve}], better="higher"))
    assert said.verdict is Verdict.PROBLEM
    assert said.numbers["gain"] == pytest.approx(0.125, rel=0.05)


def test_a_study_that_is_far_too_long_saturates_early() -> None:
    said = saturated(gather(draw(Plan(plateau=0.1, evaluations=100))))
    assert said.verdict is Verdict.WATCH
    assert "of its final level from step " in said.sentence
    assert said.sentence.endswith("% of the training.")
    assert said.advice.startswith("Train for about half of the 4,000 steps")


def test_noise_that_hides_the_end_saturates_nothing() -> None:
    curve = falling(points=40, noise=0.05)
    assert saturated(evidence_of([{"valid/error": curve}])).verdict is Verdict.GOOD


def test_too_few_points_are_named() -> None:
    for question in (improving, saturated):
        for trials in ([], [{"valid/error": [0.3, 0.2, 0.1]}]):
            said = question(evidence_of(trials))
            assert said.verdict is Verdict.UNKNOWN
            assert said.advice == "Evaluate at least 16 times in a trial, at regular steps."
