"""Still improving, saturated early, or neither."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import Plan, draw
from small_studies import evidence_of, falling
from tunebook.core.curves import Curve
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.progress import improving, saturated


@pytest.mark.parametrize("seed", range(3))
def test_healthy_studies_are_calm(seed: int) -> None:
    evidence = gather(draw(Plan(seed=seed)))
    still, early = improving(evidence), saturated(evidence)
    assert (still.verdict, early.verdict) == (Verdict.GOOD, Verdict.GOOD)
    assert "not more than the difference of interest" in still.sentence
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


def test_a_steep_end_that_may_be_noise_is_unknown() -> None:
    noise = 0.03 * np.random.default_rng(1).normal(size=40)
    curve = np.linspace(0.3, 0.2, 40) + noise
    said = improving(evidence_of([{"valid/error": curve}]))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("Whether the best trial (1) still improves at the end cannot ")
    assert "with a standard error of 0.0" in said.sentence
    assert said.advice.startswith("Train the best configuration for 500 steps, or evaluate more")


FALLING_RATE = np.linspace(0.1, 0.0, 40)


@pytest.mark.parametrize("name", ["lr", "train/learning_rate", "optim.lr"])
def test_what_falls_with_the_learning_rate_may_only_be_the_decay(name: str) -> None:
    curve = np.linspace(0.8, 0.3, 40)
    said = improving(evidence_of([{"valid/error": curve, name: FALLING_RATE}]))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.endswith("so this may only be the decay.")
    level = improving(evidence_of([{"valid/error": curve, name: np.full(40, 0.1)}]))
    assert level.verdict is Verdict.PROBLEM
    assert "decay" not in level.sentence


@pytest.mark.parametrize(
    ("schedule", "verdict"), [("cosine", Verdict.WATCH), ("constant", Verdict.PROBLEM)]
)
def test_a_schedule_tells_where_no_rate_is_logged(schedule: str, verdict: Verdict) -> None:
    trials = [{"valid/error": np.linspace(0.8, 0.3, 40)}]
    said = improving(evidence_of(trials, fixed={"lr_schedule": schedule}))
    assert said.verdict is verdict
    knobs = Knobs(learning_rate="lr", schedule="shape")
    said = improving(evidence_of(trials, fixed={"shape": schedule}, knobs=knobs))
    assert said.verdict is verdict


def test_training_is_counted_in_the_unit_of_its_knob() -> None:
    trials = [{"valid/error": np.linspace(0.8, 0.3, 40)}]
    knobs = Knobs(learning_rate="lr", steps="epochs", steps_unit="epochs")
    said = improving(evidence_of(trials, fixed={"epochs": 91}, knobs=knobs))
    assert said.advice.startswith("Train longer: try 182 epochs with")


def test_a_best_trial_that_settles_at_its_first_step_is_saturated() -> None:
    steps = np.arange(0, 60)
    curve = Curve.of(steps, 0.1 + 1e-5 * np.random.default_rng(0).normal(size=60))
    said = saturated(evidence_of([{"valid/error": curve}]))
    assert said.verdict is Verdict.WATCH
    assert said.numbers["share"] == 0.0
    assert "from step 0 on, 0% of the training" in said.sentence


def test_the_best_trial_must_be_saturated_for_others_to_count() -> None:
    early = falling(points=100, end=0.11, noise=1e-5)
    late = 0.09 + 0.3 * np.exp(-np.linspace(0, 5, 100))
    said = saturated(evidence_of([{"valid/error": late}, *[{"valid/error": early}] * 2]))
    assert said.verdict is Verdict.GOOD


def test_a_constant_metric_says_nothing_of_training() -> None:
    for question in (improving, saturated):
        said = question(evidence_of([{"valid/error": np.full(30, 0.5)}] * 3))
        assert said.verdict is Verdict.UNKNOWN
        assert said.sentence == "All values of valid/error are equal: 0.5."


def test_too_few_points_are_named() -> None:
    for question in (improving, saturated):
        for trials in ([], [{"valid/error": [0.3, 0.2, 0.1]}]):
            said = question(evidence_of(trials))
            assert said.verdict is Verdict.UNKNOWN
            assert said.advice == "Evaluate at least 16 times in a trial, at regular steps."
