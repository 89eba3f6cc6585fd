"""What matters, what interacts, what could be fixed; and studies in which nothing matters."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import COMPLETE, DIVERGED, Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.space import Space
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.importance import nothing_matters, which_matter

ONE_MATTERS = {"learning_rate": 1.0, "weight_decay": 0.0, "dropout": 0.0}


def drawn(**plan: object) -> Evidence:
    return gather(draw(Plan(**{"seed": 5, "dimensions": 3, "evaluations": 8, **plan})))  # type: ignore[arg-type]


def shaped(of: object, n: int = 48) -> Evidence:
    points = np.random.default_rng(1).uniform(size=(n, 3))
    ran = [
        Ran(dict(zip("abc", map(float, point), strict=True)), float(of(*point)))  # type: ignore[operator]
        for point in points
    ]
    return evidence_of(Space.of(nuisance={name: Float(0, 1) for name in "abc"}), ran)


def test_in_a_healthy_study_something_matters() -> None:
    said = nothing_matters(drawn())
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("Results depend on what was searched (p = 0.0")


def test_when_nothing_matters_it_is_said() -> None:
    said = nothing_matters(drawn(flat=True))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith(
        "Nothing searched matters: learning_rate, weight_decay and dropout leave no mark on "
        "valid/error (p = "
    )
    assert "check that the program reads its parameters" in said.advice


def test_equal_results_are_nothing_that_matters() -> None:
    evidence = shaped(lambda a, b, c: 0.5)
    assert nothing_matters(evidence).verdict is Verdict.WATCH
    assert which_matter(evidence).sentence == "All results are equal."


def test_a_small_study_cannot_show_that_nothing_matters() -> None:
    said = nothing_matters(drawn(flat=True, trials=16))
    assert said.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("question", [nothing_matters, which_matter])
@pytest.mark.parametrize("n", [0, 1, 11])
def test_few_results_are_unknown(question: object, n: int) -> None:
    said = question(shaped(lambda a, b, c: a, n))  # type: ignore[operator]
    assert said.verdict is Verdict.UNKNOWN


def test_the_one_that_matters_is_named_and_the_others_could_be_fixed() -> None:
    evidence = drawn(weights=ONE_MATTERS)
    said = which_matter(evidence)
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("learning_rate alone matters (")
    assert "No effect is seen of weight_decay and dropout: one could fix weight_decay at " in (
        said.sentence
    )
    assert evidence.best is not None
    value = evidence.best.record.trial.config["dropout"]
    assert f"dropout at {value:.2g}." in said.sentence


def test_an_interaction_is_named() -> None:
    said = which_matter(shaped(lambda a, b, c: a + b + 4 * (a - 0.5) * (b - 0.5), 64))
    assert "a and b interact (" in said.sentence
    assert "No effect is seen of c" in said.sentence


def test_a_nuisance_that_acts_alike_for_every_setting_is_said() -> None:
    said = which_matter(drawn(settings=2, advantage=0.05, weights=ONE_MATTERS))
    assert "variant (" in said.sentence
    assert said.sentence.endswith("learning_rate acts alike for every variant.")


def half_works() -> Evidence:
    """Results are noise where there are any; half of the space diverges."""
    random = np.random.default_rng(3)
    ran = [
        Ran(
            dict(zip("abc", map(float, point), strict=True)),
            float(random.normal(0.2, 0.01)),
            outcome=DIVERGED if point[0] > 0.5 else COMPLETE,
        )
        for point in random.uniform(size=(80, 3))
    ]
    return evidence_of(Space.of(nuisance={name: Float(0, 1) for name in "abc"}), ran)


def test_what_decides_whether_a_trial_works_matters() -> None:
    said = nothing_matters(half_works())
    assert said.verdict is Verdict.GOOD
    assert said.sentence == "Whether a trial works depends on a."


def test_ranges_that_hold_what_does_not_work_are_never_widened() -> None:
    said = which_matter(half_works())
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.endswith("among the trials that work; whether one works depends on a.")
    assert said.advice == "Run more trials."


def test_shares_are_those_among_the_trials_that_work() -> None:
    said = which_matter(drawn(weights=ONE_MATTERS, cliff=0.8, trials=48))
    assert " of the variance) among the trials that work. " in said.sentence


def test_noise_has_no_leader() -> None:
    said = which_matter(drawn(flat=True))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence == "No parameter stands out from the noise in 32 results."


def test_one_place_has_no_parameters() -> None:
    evidence = evidence_of(Space(), [Ran({}, 0.1 * i) for i in range(12)])
    assert which_matter(evidence).sentence == "No parameter varies."
