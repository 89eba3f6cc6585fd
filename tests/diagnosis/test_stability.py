"""Learning rates at the edge of stability: found where they hurt, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import Plan, draw
from small_studies import evidence_of
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.stability import stability

DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "loss is NaN", Cause.DIVERGED)
NO_MEMORY = Outcome(OutcomeKind.INFEASIBLE, "out of memory", Cause.OUT_OF_MEMORY)
DONE = Outcome(OutcomeKind.COMPLETE, "finished")
RATES = tuple(float(x) for x in np.geomspace(1e-4, 1.0, 25))


def sweep(best: float, edge: float, broken: Outcome = DIVERGED, early: bool = True):  # type: ignore[no-untyped-def]
    """Rates on a line: a bowl about the best one, and divergence from the edge on."""
    rng = np.random.default_rng(0)
    trials, outcomes = [], []
    for rate in RATES:
        value = 0.1 + 0.02 * np.log10(rate / best) ** 2 + 0.0005 * rng.normal()
        curve = value + 0.8 * np.exp(-np.linspace(0, 12, 40))
        stops = rate >= edge
        trials.append({"valid/error": curve[: 2 if early else 30] if stops else curve})
        outcomes.append(broken if stops else DONE)
    return evidence_of(trials, rates=RATES, outcomes=outcomes)


def test_a_healthy_study_is_calm() -> None:
    said = stability(gather(draw(Plan(seed=1))))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("No trial with a higher learning_rate than the best diverged")


def test_an_edge_below_the_optimum_is_a_problem() -> None:
    said = stability(sweep(best=0.3, edge=0.02))
    assert said.verdict is Verdict.PROBLEM
    assert "11 trials with lr above 0.01778 diverged early in training" in said.sentence
    assert "the best trial (14) has 0.01468, 1.2 times below it" in said.sentence
    assert said.advice == (
        "Add a warmup, the shortest that is stable, and try rates up to 0.1778 with it."
    )
    assert said.numbers["edge"] == pytest.approx(0.01778, rel=1e-3)


def test_what_breaks_late_is_to_be_clipped() -> None:
    said = stability(sweep(best=0.3, edge=0.02, early=False))
    assert "diverged after a steady fall of the loss" in said.sentence
    assert said.advice.startswith("Clip gradients at the 90th percentile")


def test_an_edge_far_above_the_optimum_is_none() -> None:
    said = stability(sweep(best=0.002, edge=0.04))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("9 trials with lr above 0.03831 diverged, but the best, 0.00")
    assert said.sentence.endswith("below it, and rates nearer the edge are not clearly better.")


def test_an_optimum_just_inside_the_edge_is_none() -> None:
    said = stability(sweep(best=0.005, edge=0.04))
    assert said.verdict is Verdict.GOOD


def test_no_edge_is_named_where_failing_is_luck() -> None:
    trials = [
        {"valid/error": 0.1 + 0.02 * np.log10(rate / 0.01) ** 2 + np.zeros(5)} for rate in RATES
    ]
    outcomes = [DIVERGED if i in (1, 7, 15, 19) else DONE for i in range(len(RATES))]
    said = stability(evidence_of(trials, rates=RATES, outcomes=outcomes))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == (
        "2 of the 12 trials with a higher lr than the best are infeasible, but no rate up to 1 "
        "parts them from the others."
    )


def test_no_edge_is_named_where_most_trials_fail_on_both_sides() -> None:
    rates = [float(x) for x in np.geomspace(1e-4, 1.0, 400)]
    rng = np.random.default_rng(0)
    # From four in five to nine in ten: clearly more, and no edge.
    failing = rng.uniform(size=400) < np.linspace(0.75, 0.95, 400)
    trials = [{"valid/error": np.full(5, 0.2 + 0.02 * rng.normal())} for _ in rates]
    outcomes = [DIVERGED if bad else DONE for bad in failing]
    said = stability(evidence_of(trials, rates=rates, outcomes=outcomes))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.endswith("but no rate up to 1 parts them from the others.")


def test_a_best_rate_near_the_edge_is_unknown_unless_results_worsen_there() -> None:
    rng = np.random.default_rng(3)
    trials = [{"valid/error": np.full(5, 0.2 + 0.02 * rng.normal())} for _ in RATES]
    trials[13] = {"valid/error": np.full(5, 0.05)}
    outcomes = [DIVERGED if rate >= 0.02 else DONE for rate in RATES]
    said = stability(evidence_of(trials, rates=RATES, outcomes=outcomes))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence == (
        "The best lr, 0.01468, is 1.2 times below 0.01778, above which 11 trials diverged: whether "
        "results still improve towards that edge cannot be told."
    )
    assert said.advice.startswith("Run more trials with lr between 0.003557 and 0.01778, or ")
    worse = stability(sweep(best=0.01, edge=0.02))
    assert worse.numbers["edge"] < 2 * worse.numbers["best"]
    assert worse.verdict is Verdict.GOOD


def test_only_what_diverged_is_said_to_have_diverged() -> None:
    at_chance = [
        {"valid/error": [0.9, 0.9] if rate >= 0.02 else [0.9, 0.1 - 0.02 * np.log10(rate)]}
        for rate in RATES
    ]
    knobs = Knobs(learning_rate="lr", chance=0.9)
    said = stability(evidence_of(at_chance, rates=RATES, knobs=knobs))
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence.startswith("11 trials with lr above 0.01778 are infeasible")


def test_running_out_of_memory_is_no_instability() -> None:
    said = stability(sweep(best=0.3, edge=0.02, broken=NO_MEMORY))
    assert said.verdict is Verdict.GOOD
    assert "No trial with a higher lr" in said.sentence


def test_rates_too_low_to_learn_do_not_hide_the_edge() -> None:
    evidence = sweep(best=0.3, edge=0.02)
    outcomes = [
        DIVERGED if i < 4 else r.record.outcome or DONE for i, r in enumerate(evidence.readings)
    ]
    trials = [r.record.curves for r in evidence.readings]
    assert stability(evidence_of(trials, rates=RATES, outcomes=outcomes)).verdict is Verdict.PROBLEM


def test_planted_cliffs_are_found() -> None:
    loud = [
        stability(
            gather(draw(Plan(seed=s, dimensions=2, cliff=0.6, optimum={"learning_rate": 0.9})))
        ).verdict
        for s in range(4)
    ]
    assert loud.count(Verdict.PROBLEM) >= 3


def test_what_is_missing_is_named() -> None:
    said = stability(evidence_of([{"valid/error": [0.1]}], knobs=Knobs()))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == "Name it under knobs: learning_rate."
    few = stability(evidence_of([{"valid/error": [0.1]}] * 4))
    assert few.verdict is Verdict.UNKNOWN
    assert (
        "No setting has 5 measured trials, replicates aside, of which lr differs." in few.sentence
    )
