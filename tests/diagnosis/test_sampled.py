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
def test_healthy_studies_are_mostly_calm_and_never_alarm(trials: int, dimensions: int) -> None:
    plans = [Plan(seed=s, trials=trials, dimensions=dimensions, evaluations=8) for s in range(4)]
    said = [sampled_enough(gather(draw(plan))) for plan in plans]
    verdicts = [one.verdict for one in said]
    assert set(verdicts) <= {Verdict.GOOD, Verdict.UNKNOWN}
    assert verdicts.count(Verdict.GOOD) >= 2
    assert all(f" of {trials} trials lie" in one.sentence for one in said)
    assert all("a model of the results expects" in one.sentence for one in said)


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
    assert said.advice == (f"Run at least {_more(8 - n)}." if n else "Run the study.")


def _more(n: int) -> str:
    return "1 more trial" if n == 1 else f"{n} more trials"


LINE = Space.of(nuisance={"rate": Float(0, 1)})


def test_trials_run_again_are_no_new_points() -> None:
    ran = [Ran({"rate": 0.1 * (i % 4)}, 0.1 + 0.01 * i) for i in range(20)]
    said = sampled_enough(evidence_of(LINE, ran))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence == "4 different points are too few to tell for 1 searched parameter."
    assert said.advice == "Run at least 4 more, or search fewer parameters."


def test_the_best_is_among_those_counted() -> None:
    ran = [Ran({"rate": i / 31}, 0.2 + (i / 31 - 0.5) ** 2) for i in range(32)]
    said = sampled_enough(evidence_of(LINE, [*ran, Ran({"rate": 0.5}, 0.1, adaptive=True)]))
    assert said.numbers["good trials"] >= 3


def test_a_lucky_trial_of_many_leaves_it_open() -> None:
    random = np.random.default_rng(1)
    space = Space.of(nuisance={name: Float(0, 1) for name in "abcd"})
    points = random.uniform(size=(40, 4))
    ran = [
        Ran(dict(zip("abcd", map(float, p), strict=True)), float(0.1 + 4 * np.sum((p - 0.5) ** 2)))
        for p in points
    ]
    said = sampled_enough(evidence_of(space, ran, Objective(Metric("valid/error"))))
    few = said.numbers["good trials"] < 3
    left = said.numbers["remaining gain"] / said.numbers["difference of interest"]
    assert (few, 2 < left < 5, said.verdict) == (True, True, Verdict.UNKNOWN)
    assert said.sentence.startswith("Only ")
    assert said.advice


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
