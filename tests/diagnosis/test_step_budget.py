"""The best steps of the good trials: the rules of a tenth and a quarter."""

from __future__ import annotations

import numpy as np

from simulation import Plan, draw
from small_studies import evidence_of
from tunebook.core.findings import Verdict
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.step_budget import best_steps, step_budget

STOPPED = Outcome(OutcomeKind.STOPPED, "behind the median")
DONE = Outcome(OutcomeKind.COMPLETE, "finished")


def best_at(step: int, points: int = 50) -> np.ndarray:
    return np.asarray(0.1 + 0.01 * np.abs(np.arange(points) - step))


def test_a_healthy_study_is_calm() -> None:
    said = step_budget(gather(draw(Plan(seed=5))))
    assert said.verdict is Verdict.GOOD
    assert "of the 8 best trials are best in the last 25% of their training" in said.sentence


def test_best_in_the_first_tenth_is_far_too_long() -> None:
    said = step_budget(evidence_of([{"valid/error": best_at(2)}] * 6))
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence == (
        "5 of the 5 best trials are best in the first 10% of their training: there are far too "
        "many steps."
    )
    assert said.advice.startswith("Train for a quarter of the steps")


def test_best_in_the_last_quarter_is_too_short() -> None:
    said = step_budget(gather(draw(Plan(plateau=2.0))))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith("8 of the 8 best trials are best in the last 25%")
    assert said.sentence.endswith("(median): the training is too short.")
    assert said.advice.startswith("Train longer, and tune the decay")


def test_a_last_quarter_under_decay_may_be_nothing_else() -> None:
    trials = [{"valid/error": np.linspace(0.8, 0.3, 50), "lr": np.linspace(1, 0, 50)}] * 8
    said = step_budget(evidence_of(trials))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.endswith(
        "the training may be too short. The learning rate falls meanwhile, so this may only be the "
        "decay."
    )


def test_a_constant_metric_has_no_best_step() -> None:
    said = step_budget(evidence_of([{"valid/error": np.full(30, 0.5)}] * 8))
    assert (said.verdict, said.sentence) == (
        Verdict.UNKNOWN,
        "All values of valid/error are equal: 0.5.",
    )


def test_a_plateau_whose_luck_comes_late_is_calm() -> None:
    trials = []
    for seed in range(8):
        curve = 0.1 + 0.002 * np.random.default_rng(seed).normal(size=60)
        curve[-2] = curve.min() - 0.0002
        trials.append({"valid/error": curve})
    said = step_budget(evidence_of(trials))
    assert said.verdict is Verdict.GOOD


def test_stopped_trials_are_left_out() -> None:
    outcomes = [DONE] * 5 + [STOPPED] * 5
    evidence = evidence_of([{"valid/error": best_at(20)}] * 10, outcomes=outcomes)
    assert [best.number for best in best_steps(evidence)] == [1, 2, 3, 4, 5]


def test_too_few_points_are_named() -> None:
    said = step_budget(evidence_of([{"valid/error": [0.3, 0.2]}] * 9))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence == "Fewer than 5 finished trials have 10 points of valid/error."
    assert said.advice == "Evaluate at least 10 times in a trial, at regular steps."


def test_too_few_trials_are_named() -> None:
    """Whoever evaluates twenty times need not evaluate more often."""
    said = step_budget(evidence_of([{"valid/error": best_at(10, points=20)}] * 2))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence == "Only 2 trials finished with a result, and 5 are needed."
    assert said.advice == "Run at least 3 more trials."
    both = step_budget(evidence_of([{"valid/error": [0.3, 0.2]}]))
    assert both.sentence == "Only 1 trial finished with a result, and 5 are needed."
    assert both.advice == (
        "Run at least 4 more trials. Evaluate at least 10 times in a trial, at regular steps."
    )
    none = step_budget(evidence_of([]))
    assert (none.sentence, none.advice) == ("There is no result yet.", "Run the study.")
