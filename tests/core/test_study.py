"""Studies: their seeds, their children, what they refuse, and what makes two of them differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchable import study_in
from strategies import studies
from tunebook.core.domains import Float
from tunebook.core.errors import StudyError
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Parameter, Role, Space, conditions
from tunebook.core.study import (
    Asked,
    Budget,
    Divergence,
    MoreTrials,
    Resources,
    Sampling,
    Study,
)

SPACE = Space.of(
    scientific={"blocks": [2, 3, 4]},
    nuisance={"lr": Float(1e-4, 1e-2, log=True)},
    fixed={"batch_size": 128},
)
STUDY = study_in(SPACE, trials=10, baseline=(("width", 64), ("batch_size", 256)))


def test_golden_seeds() -> None:
    assert STUDY.sequence_seed == 0
    assert STUDY.child("next").sequence_seed == 982630478
    assert [STUDY.trial_seed(index) for index in range(3)] == [1838733386, 908697229, 638069175]


@given(st.integers(0, 10**6))
def test_trial_seeds_fit_every_library(index: int) -> None:
    assert 0 <= STUDY.trial_seed(index) < 2**31


def test_trials_have_seeds_of_their_own() -> None:
    assert len({STUDY.trial_seed(index) for index in range(1000)}) == 1000
    assert STUDY.trial_seed(0) != replace(STUDY, seed=1).trial_seed(0)


def test_a_child_has_points_of_its_own() -> None:
    child = STUDY.child("next", goal="wider")
    assert (child.name, child.parent, child.goal) == ("next", "points", "wider")
    assert child.space is STUDY.space
    seeds = {
        STUDY.sequence_seed,
        child.sequence_seed,
        STUDY.child("other").sequence_seed,
        child.child("next").sequence_seed,
        replace(child, seed=1).sequence_seed,
    }
    assert len(seeds) == 5


def test_settings_with_more_trials() -> None:
    study = replace(
        STUDY,
        more_trials=(
            MoreTrials(conditions({"blocks": [3, 4]}), 20),
            MoreTrials(conditions({"blocks": 4}), 5),
            MoreTrials((), 12),
        ),
    )
    assert [study.trials_for(setting) for setting in SPACE.settings()] == [12, 20, 20]
    assert [STUDY.trials_for(setting) for setting in SPACE.settings()] == [10, 10, 10]


def test_a_configuration_inherits_what_the_space_does_not_name() -> None:
    setting = SPACE.settings()[0]
    assert STUDY.config(setting, {"lr": 0.5}) == {
        "batch_size": 128,
        "blocks": 2,
        "lr": 0.001,
        "width": 64,
    }
    assert list(STUDY.inherit({"z": 1, "a": 2})) == ["a", "width", "z"]


@given(studies())
def test_a_study_does_not_differ_from_itself(study: Study) -> None:
    assert study.difference(study) == ()
    assert study.difference(replace(study, goal="x", note="y", trials=7, name="other")) == ()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"budget": Budget(2000)}, "~ budget: none -> 2000 steps"),
        ({"seed": 3}, "~ seed: 0 -> 3"),
        ({"parent": "first"}, "~ parent: none -> first"),
        ({"baseline": ()}, "~ baseline: width=64, batch_size=256 -> none"),
        ({"sampling": Sampling("random")}, "~ sampling: halton -> random"),
        (
            {"sampling": Sampling("grid", points=3)},
            "~ sampling: halton -> grid of 3 points for each range",
        ),
        (
            {"sampling": Sampling("list", configs=((("lr", 0.001),),))},
            "~ sampling: halton -> list of 1 configurations",
        ),
        (
            {"space": SPACE.edit({"lr": Parameter("lr", Role.NUISANCE, Float(0, 1))})},
            "~ lr: nuisance, 0.0001 to 0.01 (log) -> nuisance, 0 to 1",
        ),
    ],
)
def test_a_difference_has_a_line_for_each_change(changes: dict[str, Any], line: str) -> None:
    assert STUDY.difference(replace(STUDY, **changes)) == (line,)


def test_budgets_as_text() -> None:
    assert str(Budget(2000)) == "2000 steps"
    assert str(Budget(0.5, "seconds")) == "0.5 seconds"


def test_a_name_may_be_long_and_odd() -> None:
    for name in ("x" * 100, "2024-01.run_3", "_"):
        assert replace(STUDY, name=name).name == name


REFUSED: list[tuple[Callable[[], object], str]] = [
    *(
        (
            lambda name=name: replace(STUDY, name=name),  # type: ignore[misc]
            f"{name!r} cannot name a study; use up to 100 letters, digits, '_', '.' and '-'",
        )
        for name in ("", "a b", "../x", "x" * 101, ".hidden", "a\n", "é")
    ),
    (lambda: replace(STUDY, trials=0), "trials must be from 1 to 1000000, got 0"),
    (lambda: replace(STUDY, trials=10**7), "trials must be from 1 to 1000000, got 10000000"),
    (
        lambda: replace(STUDY, more_trials=(MoreTrials((), 0),)),
        "trials must be from 1 to 1000000, got 0",
    ),
    (
        lambda: replace(STUDY, more_trials=(MoreTrials(conditions({"block": 2}), 30),)),
        "more_trials depends on 'block', which is no parameter; did you mean 'blocks'?",
    ),
    (
        lambda: replace(STUDY, knobs=Knobs(learning_rate="rate")),
        "the knob learning_rate names 'rate', which is no parameter",
    ),
    (lambda: Budget(0), "max_steps must be above 0 and finite, got 0"),
    (lambda: Budget(math.nan, "seconds"), "max_seconds must be above 0 and finite, got nan"),
    (lambda: Budget(math.inf), "max_steps must be above 0 and finite, got inf"),
    (lambda: Resources(cpus=0), "a trial needs at least one cpu, got 0"),
    (lambda: Resources(gpus=-1), "gpus must not be negative, got -1"),
    (lambda: Resources(memory=100), "memory must be at least 1 MB, got 100 bytes"),
    (lambda: Divergence(above=math.inf), "a value must be finite, got inf"),
    (
        lambda: Sampling("holton"),  # type: ignore[arg-type]
        "sampling must be halton, sobol, random, grid or list, got 'holton'; "
        "did you mean 'halton'?",
    ),
    (
        lambda: Sampling("list"),
        "sampling by list needs at least one configuration, got none",
    ),
    (
        lambda: Sampling("grid", points=1),
        "the points of a grid for each range must be from 2 to 1000000, got 1",
    ),
]


@pytest.mark.parametrize(("make", "text"), REFUSED)
def test_what_is_refused_and_how_it_is_said(make: Callable[[], object], text: str) -> None:
    with pytest.raises(StudyError) as caught:
        make()
    assert str(caught.value) == text


def test_a_study_is_a_value() -> None:
    one = Study("a", SPACE, Objective(Metric("error")))
    assert one == Study("a", SPACE, Objective(Metric("error")))
    assert len({one, replace(one), replace(one, seed=1)}) == 2


# Stages of a procedure.


ASKED = Asked("variance", STUDY, (("lr", 0.1),), "trial 3", (("seeds", 5),))


def test_a_stage_is_named_after_its_study_and_its_procedure() -> None:
    assert ASKED.stage("all") == f"{STUDY.name}.variance.all"
    assert replace(ASKED, round=2).stage("all") == f"{STUDY.name}.variance-2.all"


def test_what_a_study_was_asked_for_changes_no_comparison() -> None:
    assert STUDY.difference(replace(STUDY, asked=ASKED)) == ()
    assert replace(STUDY, asked=ASKED).difference(STUDY) == ()
    assert replace(STUDY, asked=ASKED) != STUDY
