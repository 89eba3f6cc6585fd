"""Ends of ranges: told where the optimum lies beyond, and left alone where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hostile_evidence import RICH, Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.domains import Choice, Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Finding, Verdict
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.trials import Adaptive
from tunebook.diagnosis.boundaries import search_space
from tunebook.diagnosis.gathering import gather

# The optimum lies beyond the end of a parameter that explains most of the results.
STRONG = {"learning_rate": 3.0}


def drawn(**plan: object) -> Evidence:
    return gather(draw(Plan(**{"seed": 2, "dimensions": 3, "evaluations": 8, **plan})))  # type: ignore[arg-type]


def with_limit(evidence: Evidence, limit: str) -> Evidence:
    """The same study with a side of its learning rate marked as a limit."""
    study = evidence.study
    rate = study.space["learning_rate"]
    domain = replace(rate.source, limit=limit)  # type: ignore[type-var]
    space = study.space.edit({"learning_rate": replace(rate, source=domain)})  # type: ignore[arg-type]
    return gather(Results(replace(study, space=space), evidence.results.trials))


@pytest.mark.parametrize("trials", [16, 32])
def test_a_healthy_study_is_calm(trials: int) -> None:
    said = search_space(drawn(trials=trials))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == (
        "The best trials lie inside the ranges of 3 parameters, not at their ends."
    )


def test_an_optimum_beyond_the_upper_end_is_a_problem() -> None:
    said = search_space(drawn(optimum={"learning_rate": 1.3}, weights=STRONG))
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence == (
        "7 of the best 7 trials have learning_rate above 0.018, near the upper end 0.1 of its "
        "range."
    )
    assert said.advice == "Extend learning_rate up to 1."
    assert len(said.trials) == 7
    assert said.numbers["probability beyond"] >= 0.8


def test_an_optimum_beyond_the_lower_end_is_a_problem() -> None:
    said = search_space(drawn(optimum={"learning_rate": -0.3}, weights=STRONG))
    assert said.verdict is Verdict.PROBLEM
    assert "near the lower end 0.0001 of its range" in said.sentence
    assert said.advice == "Extend learning_rate down to 1e-05."


def test_an_optimum_inside_near_the_end_is_no_problem() -> None:
    said = search_space(drawn(optimum={"learning_rate": 0.75}, weights=STRONG, trials=64))
    assert said.verdict is Verdict.GOOD


def test_a_limit_is_never_extended() -> None:
    evidence = drawn(optimum={"learning_rate": 1.3}, weights=STRONG)
    assert search_space(with_limit(evidence, "low")).verdict is Verdict.PROBLEM
    for limit in ("high", "both"):
        assert search_space(with_limit(evidence, limit)).verdict is Verdict.GOOD


def test_the_edge_of_stability_is_no_end_of_a_range() -> None:
    said = search_space(drawn(optimum={"learning_rate": 0.9}, weights=STRONG, cliff=0.7))
    assert said.verdict is Verdict.GOOD


def test_every_side_that_may_be_extended_is_a_claim_alarming_or_not() -> None:
    said = search_space(drawn())
    # dropout begins at zero, where most parameters end by nature.
    assert [claim.subject for claim in said.claims] == [
        "learning_rate (lower end)",
        "learning_rate (upper end)",
        "weight_decay (lower end)",
        "weight_decay (upper end)",
        "dropout (upper end)",
    ]
    assert all(claim.p is not None for claim in said.claims)


def test_settings_share_one_claim_for_a_side() -> None:
    said = search_space(drawn(settings=2, optimum={"learning_rate": 1.3}, weights=STRONG))
    assert len(said.claims) == 5
    assert said.verdict is Verdict.PROBLEM
    assert "of variant=" in said.sentence


def test_guided_trials_are_not_looked_at() -> None:
    results = draw(Plan(seed=1, dimensions=3, evaluations=8))
    guided = tuple(
        replace(r, trial=replace(r.trial, origin=Adaptive(r.trial.number, "ei", 5)))
        for r in results
    )
    said = search_space(gather(Results(results.study, guided)))
    assert said.verdict is Verdict.UNKNOWN


def few(n: int) -> Finding:
    space = Space.of(nuisance={"rate": Float(0, 1)})
    return search_space(evidence_of(space, [Ran({"rate": i / 9}, 0.1 + i) for i in range(n)]))


@pytest.mark.parametrize("n", [0, 1, 9])
def test_few_results_are_unknown(n: int) -> None:
    said = few(n)
    assert said.verdict is Verdict.UNKNOWN
    more = "1 more trial" if n == 9 else f"{10 - n} more trials"
    assert said.advice == (f"Run at least {more}." if n else "Run the study.")


def without_most_of(evidence: Evidence, variant: int) -> Evidence:
    """The study with two trials of one setting, its best ones."""
    arm = next(a for a in evidence.arms if a.setting.config["variant"] == variant)
    left_out = {r.number for r in arm.ranked[2:]}
    kept = tuple(r for r in evidence.results if r.trial.number not in left_out)
    return gather(Results(evidence.study, kept))


def test_a_setting_with_too_few_results_is_named() -> None:
    said = search_space(without_most_of(drawn(settings=2, advantage=0.05), 0))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.endswith("not at their ends; variant=0 has too few results to tell.")


def test_it_is_unknown_where_the_best_setting_has_too_few_results() -> None:
    said = search_space(without_most_of(drawn(settings=2, advantage=0.05), 1))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("variant=1 has too few results to tell, and the best trial (")
    assert said.advice == "Run every setting with at least 10 trials that work."


def test_choices_have_no_ends() -> None:
    space = Space.of(nuisance={"act": Choice(("relu", "gelu"))})
    said = search_space(evidence_of(space, [Ran({"act": 0.1}, 0.1)] * 12))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == "No range is searched: there is no end to be at."


def test_a_parameter_that_exists_in_some_trials_is_judged_on_those() -> None:
    setting = RICH.settings()[0]
    names = [p.name for p in RICH.searched(setting)]
    ran = [
        Ran(
            {name: ((i * (k + 3)) % 24) / 24 for k, name in enumerate(names)},
            i / 24,
            setting=setting,
        )
        for i in range(24)
    ]
    said = search_space(evidence_of(RICH, ran))
    assert {claim.subject.split()[0] for claim in said.claims} >= {"rate", "slope"}
