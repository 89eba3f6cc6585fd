"""Sampled enough: the number of good trials, what remains, and how many more."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import Ran, evidence_of
from simulation import NAMES, Plan, draw
from tunebook.core.domains import Float
from tunebook.core.findings import Verdict
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.sampled import sampled_enough, trials_needed


@pytest.mark.parametrize(("trials", "dimensions"), [(16, 2), (32, 4), (64, 6)])
def test_a_healthy_study_is_calm(trials: int, dimensions: int) -> None:
    plan = Plan(seed=3, trials=trials, dimensions=dimensions, evaluations=8)
    said = sampled_enough(gather(draw(plan)))
    assert said.verdict is Verdict.GOOD
    assert f" of {trials} trials lie" in said.sentence
    assert "a model of the results expects" in said.sentence


def test_a_few_trials_of_many_parameters_are_not_enough() -> None:
    weights = dict.fromkeys(NAMES, 1.0)
    plan = Plan(seed=4, trials=10, dimensions=6, evaluations=8, weights=weights, height=0.6)
    said = sampled_enough(gather(draw(plan)))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith("Only 1 of 10 trials lies within")
    assert said.advice == (
        "Run as many trials again and look anew: how many more it takes cannot be told."
    )
    assert said.numbers["remaining gain"] > 5 * said.numbers["difference of interest"]


def test_settings_are_judged_apart() -> None:
    said = sampled_enough(gather(draw(Plan(seed=3, settings=2, dimensions=2, evaluations=8))))
    assert said.verdict is Verdict.GOOD
    assert " of variant=" in said.sentence


@pytest.mark.parametrize(
    ("n", "words"), [(0, "no result yet"), (1, "1 result tells"), (7, "7 res")]
)
def test_few_results_are_unknown(n: int, words: str) -> None:
    space = Space.of(nuisance={"rate": Float(0, 1)})
    said = sampled_enough(evidence_of(space, [Ran({"rate": i / 9}, 0.1 + i) for i in range(n)]))
    assert said.verdict is Verdict.UNKNOWN
    assert words in said.sentence
    assert said.advice == f"Run at least {8 - n} more trials."


def test_higher_may_be_better() -> None:
    space = Space.of(nuisance={"rate": Float(0, 1)})
    ran = [Ran({"rate": i / 31}, 0.9 - (i / 31 - 0.5) ** 2) for i in range(32)]
    said = sampled_enough(evidence_of(space, ran, Objective(Metric("valid/error", "higher"))))
    assert said.verdict is Verdict.GOOD
    assert said.numbers["good trials"] >= 4


def quadratic(n: int, dimensions: int, seed: int = 0) -> np.ndarray:
    """Results at random points about a quadratic optimum."""
    points = np.random.default_rng(seed).uniform(-1, 1, (n, dimensions))
    return np.asarray(np.sum(points**2, axis=1))


def test_how_many_more_is_an_estimate_within_its_interval() -> None:
    found = trials_needed(quadratic(64, 6), interest=0.08, dimensions=6)
    assert found is not None
    low, middle, high = found
    assert 64 <= low < middle < high <= 5 * 64


def test_infeasible_trials_make_it_dearer() -> None:
    losses = quadratic(64, 6)
    half = np.concatenate([losses, np.full(64, np.inf)])
    alone, beside = (trials_needed(x, interest=0.08, dimensions=6) for x in (losses, half))
    assert alone is not None
    assert beside is not None
    assert beside[1] == pytest.approx(2 * alone[1], abs=2)


@pytest.mark.parametrize("losses", [np.ones(64), quadratic(10, 4), np.full(64, np.inf)])
def test_how_many_more_is_not_guessed(losses: np.ndarray) -> None:
    assert trials_needed(losses, interest=0.01, dimensions=4) is None
