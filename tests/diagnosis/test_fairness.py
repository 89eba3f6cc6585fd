"""Whether settings had equal chances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hostile_evidence import DIVERGED, METRIC, Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.curves import Curve
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import Results
from tunebook.core.space import Setting, Space
from tunebook.diagnosis.fairness import fairness
from tunebook.diagnosis.gathering import gather

SPACE = Space.of(
    scientific={"variant": ["a", "b"]},
    nuisance={"rate": Float(0, 1), "decay": Float(0, 1)},
    when={"decay": {"variant": "b"}},
)
A, B = (Setting((("variant", name),)) for name in "ab")


def bowls(n_a: int, n_b: int, seed: int = 0, evaluations: tuple[int, int] = (1, 1)) -> list[Ran]:
    """Trials of a setting with one parameter and of one with two."""
    rng = np.random.default_rng(seed)
    ran = []
    for setting, n, looks in ((A, n_a, evaluations[0]), (B, n_b, evaluations[1])):
        for _ in range(n):
            point = {"rate": float(rng.uniform()), "decay": float(rng.uniform())}
            loss = 0.2 + 0.1 * (point["rate"] - 0.5) ** 2 + 0.002 * rng.normal()
            curve = Curve.of(np.arange(looks), np.full(looks, loss))
            ran.append(Ran(point, curves={METRIC: curve}, setting=setting))
    return ran


def drawn(**plan: object) -> Evidence:
    return gather(draw(Plan(**{"seed": 5, "dimensions": 2, "settings": 2, **plan})))  # type: ignore[arg-type]


def test_equal_settings_are_fair() -> None:
    said = fairness(drawn())
    assert said.verdict is Verdict.GOOD
    assert said.sentence == (
        "The 2 settings had equal chances: at least 32 trials each, equally many evaluations, and "
        "about the same left to gain."
    )


def test_one_setting_is_not_compared() -> None:
    assert fairness(drawn(settings=1)).sentence == "There is one setting: nothing is compared."


def test_unequal_trials_are_told() -> None:
    evidence = drawn(trials=30)
    kept = [r for r in evidence.results if r.trial.number % 2 or r.trial.number < 31]
    said = fairness(gather(Results(evidence.study, tuple(kept))))
    assert said.verdict is Verdict.WATCH
    assert "variant=1 had 15 trials and variant=0 30" in said.sentence
    assert said.advice == "Run 15 more trials of variant=1."


def test_equal_trials_of_unequal_parameters_are_no_equal_tuning() -> None:
    said = fairness(evidence_of(SPACE, bowls(12, 12)))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "variant=b searches 2 parameters with 12 trials and variant=a 1 with 12: equal trials are "
        "not equal tuning."
    )
    assert said.advice == "Run 12 more trials of variant=b."


def test_more_trials_for_more_parameters_are_fair() -> None:
    assert fairness(evidence_of(SPACE, bowls(12, 24))).verdict is Verdict.GOOD


def test_more_looks_are_told_unless_the_last_value_counts() -> None:
    ran = bowls(12, 24, evaluations=(10, 40))
    said = fairness(evidence_of(SPACE, ran))
    assert said.sentence == (
        "Trials of variant=b were evaluated 40 times and those of variant=a 10 times: the best "
        "over training rewards more looks."
    )
    last = Objective(Metric(METRIC), "last")
    assert fairness(evidence_of(SPACE, ran, last)).verdict is Verdict.GOOD


def test_a_setting_with_many_infeasible_trials_is_told_with_its_chance() -> None:
    ran = bowls(24, 48)
    broken = [
        replace(one, outcome=DIVERGED) if one.setting == B and i % 2 else one
        for i, one in enumerate(ran)
    ]
    said = fairness(evidence_of(SPACE, broken))
    assert said.verdict is Verdict.WATCH
    assert "50% of the trials of variant=b are infeasible, and 0% of the others'" in said.sentence
    assert said.advice == "Give variant=b ranges of its own, or more trials."
    assert any(claim.p is not None and claim.p < 0.01 for claim in said.claims)


def test_a_setting_without_results_is_unknown() -> None:
    said = fairness(evidence_of(SPACE, bowls(4, 0)))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence == "1 of 2 settings has no result (variant=b)."
