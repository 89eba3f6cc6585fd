"""Proposed changes of a study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchable import study_in
from tunebook.core.domains import Choice, Float, Int
from tunebook.core.edits import SetBudget, SetParameter, edited, widened
from tunebook.core.errors import StudyError
from tunebook.core.space import Fixed, Parameter, Role, Space
from tunebook.core.study import Budget

RATES = Float(1e-4, 1e-1, log=True)
STUDY = study_in(
    Space.of(
        scientific={"optimizer": ["sgd", "adam"], "decay": RATES},
        nuisance={"learning_rate": RATES, "beta1": Float(0.8, 0.99)},
        fixed={"warmup": 0},
        derive={"momentum": "1 - beta1"},
        when={"beta1": {"optimizer": "adam"}},
    )
)


def after(*edits: SetParameter | SetBudget) -> Space:
    return edited(STUDY, edits).space


def test_a_searched_parameter_gets_a_value_and_keeps_its_condition() -> None:
    found = after(SetParameter("beta1", Fixed(0.9), "it is best"))["beta1"]
    assert found == Parameter("beta1", Role.FIXED, Fixed(0.9), STUDY.space["beta1"].when)


def test_a_fixed_parameter_is_searched_as_a_nuisance() -> None:
    wide = Float(100, 1000, log=True)
    assert after(SetParameter("warmup", wide, ""))["warmup"] == Parameter(
        "warmup", Role.NUISANCE, wide
    )


def test_what_the_study_asks_about_stays_its_question() -> None:
    wider = Float(1e-5, 1.0, log=True)
    assert after(SetParameter("decay", wider, ""))["decay"].role is Role.SCIENTIFIC
    both = after(SetParameter("optimizer", Choice(("sgd", "adam", "rmsprop")), ""))
    assert both["optimizer"].role is Role.SCIENTIFIC


def test_a_new_parameter_is_added_and_a_derived_one_replaced() -> None:
    space = after(SetParameter("clip", Fixed(1.0), ""), SetParameter("momentum", Fixed(0.9), ""))
    assert space["clip"] == Parameter("clip", Role.FIXED, Fixed(1.0))
    assert space["momentum"].source == Fixed(0.9)


def test_the_budget_changes_alone() -> None:
    study = edited(STUDY, [SetBudget(Budget(500), "longer training does not help")])
    assert study == replace(STUDY, budget=Budget(500))


def test_later_edits_win_and_none_change_nothing() -> None:
    twice = [SetParameter("warmup", Fixed(n), "") for n in (1, 2)]
    assert after(*twice)["warmup"].source == Fixed(2)
    assert edited(STUDY, []) == STUDY


def test_an_edit_that_breaks_the_study_is_refused() -> None:
    with pytest.raises(StudyError, match="optimizer must be a choice or fixed"):
        after(SetParameter("optimizer", Float(0, 1), ""))


def test_a_limit_is_never_widened() -> None:
    inside = Float(0.01, 0.1, log=True, limit="high")
    assert widened(inside, 0.001, 1.0) == Float(0.001, 0.1, log=True, limit="high")
    assert widened(Int(2, 8, limit="both"), 1.0, 9.5) == Int(2, 8, limit="both")
    assert widened(Int(2, 8), 1.2, 9.5) == Int(1, 10)
    assert widened(inside, 0.02, 0.05) == inside
