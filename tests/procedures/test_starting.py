"""The configuration to start from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchable import study_in
from simulated_probes import DIVERGED, Made, results_of
from tunebook.core.domains import Float
from tunebook.core.errors import StudyError
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Config, Space
from tunebook.core.study import Study
from tunebook.procedures.starting import check_given, start

RATES = Float(1e-4, 1e-2, log=True)
STUDY = replace(
    study_in(
        Space.of(
            scientific={"optimizer": ["sgd", "adam"]},
            nuisance={
                "learning_rate": RATES,
                "one_minus_beta1": Float(0.01, 1, log=True),
                "dropout": Float(0, 0.5),
            },
            fixed={"batch_size": 128},
            derive={"beta1": "1 - one_minus_beta1", "scaled": "learning_rate * batch_size"},
            when={"one_minus_beta1": {"optimizer": "adam"}},
        )
    ),
    objective=Objective(Metric("error")),
    trials=3,
)
MIDDLE = {
    "batch_size": 128,
    "dropout": 0.25,
    "learning_rate": pytest.approx(0.001),
    "optimizer": "sgd",
    "scaled": pytest.approx(0.128),
}


def train(config: Config, seed: int, steps: int) -> Made:
    return {"error": [float(config["dropout"] or 0)]}


def refusal(study: Study, **given: object) -> str:
    with pytest.raises(StudyError) as caught:
        start(study, None, given)  # type: ignore[arg-type]
    return str(caught.value)


def test_before_there_are_results_it_is_the_middle() -> None:
    found = start(STUDY, None, {})
    assert found.config == MIDDLE
    assert found.source == (
        f"the values of {STUDY.name}, with learning_rate and dropout in the middle of their ranges"
    )
    assert found.selected is None


def test_of_one_parameter_the_range_is_its_own() -> None:
    study = study_in(Space.of(nuisance={"lr": RATES}))
    assert start(study, None, {}).source.endswith(", with lr in the middle of its range")
    assert (
        start(study, None, {"lr": 0.1}).source == f"the values of {study.name}, and lr=0.1 as given"
    )


def test_a_baseline_comes_before_the_middle_but_not_before_what_is_fixed() -> None:
    given = (("dropout", 0.1), ("batch_size", 7), ("width", 64))
    found = start(replace(STUDY, baseline=given), None, {})
    assert found.config == {**MIDDLE, "dropout": 0.1, "width": 64}
    assert found.source.endswith("with learning_rate in the middle of its range")


def test_the_best_trial_so_far_comes_first() -> None:
    results = results_of(STUDY, train)
    best = results.best()
    assert best is not None
    found = start(STUDY, results, {})
    assert found.config == best[0].trial.config
    assert found.selected == best[1].value
    assert found.source.startswith(f"trial {best[0].trial.number} of {STUDY.name}, its best so far")


def test_results_without_a_value_are_no_start() -> None:
    assert start(STUDY, results_of(STUDY, lambda *_: DIVERGED), {}).config == MIDDLE


def test_given_values_move_what_is_computed_from_them() -> None:
    found = start(STUDY, results_of(STUDY, train), {"batch_size": 10, "learning_rate": 0.5})
    assert (found.config["learning_rate"], found.config["scaled"]) == (0.5, 5.0)
    assert found.source.endswith(", and batch_size=10, learning_rate=0.5 as given")
    # Nobody has selected this one.
    assert found.selected is None


def test_a_computed_value_may_be_given_itself() -> None:
    assert start(STUDY, None, {"scaled": 3}).config["scaled"] == 3


def test_conditions_follow_what_is_given() -> None:
    adam = start(STUDY, None, {"optimizer": "adam"}).config
    assert adam["one_minus_beta1"] == pytest.approx(0.1)
    assert adam["beta1"] == pytest.approx(0.9)
    assert "one_minus_beta1" not in start(STUDY, None, {}).config
    assert refusal(STUDY, one_minus_beta1=0.1) == (
        "one_minus_beta1 exists only when optimizer is 'adam'; set that too"
    )


def test_what_cannot_be_given_is_refused() -> None:
    assert refusal(STUDY, learnin_rate=1) == (
        "no parameter is named 'learnin_rate'; did you mean 'learning_rate'?"
    )
    assert refusal(STUDY, learning_rate="fast") == (
        "learning_rate is a number, 0.0001 to 0.01 (log); got 'fast'"
    )
    assert refusal(STUDY, dropout=True).endswith("got True")
    assert refusal(STUDY, optimizer="adma").endswith("got 'adma'; did you mean 'adam'?")
    # Beyond a range is where a probe may well begin.
    check_given(STUDY, {"learning_rate": 10, "batch_size": "large"})
