"""Learning rates tuned again with a remedy, and what a study must change."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from simulated_probes import results_of
from simulated_remedies import Program, subject
from tunebook.core.domains import Choice, Domain, Float
from tunebook.core.space import Derived, Fixed, Parameter, Role, Space
from tunebook.procedures.remedies.tuning import (
    Tuned,
    Variant,
    rate_edit,
    rates_up_to,
    tuned,
    with_rate,
)


def test_rates_reach_from_below_the_best_to_the_peak() -> None:
    assert rates_up_to(0.03, 0.95) == [0.0095, 0.03, 0.095, 0.3, 0.95]
    assert len(rates_up_to(0.03, 95)) == 9
    assert rates_up_to(0.03, 0.001) == [0.0095, 0.03]


def test_a_variant_is_tuned() -> None:
    about = subject(probe="warmup")
    variant = Variant({"warmup": 40}, 440)
    tuning = tuned(about, "tune", variant, [0.1, 0.3, 1.0], goal="?")
    study = next(tuning)
    assert (study.budget.amount if study.budget else 0) == 440
    with pytest.raises(StopIteration) as ended:
        tuning.send(results_of(study, Program(limit=1.0, optimum=0.3)))
    assert ended.value.value == Tuned(0.3, 1.0)
    assert study.trials == 2
    assert with_rate(about, variant, 0.3) == Variant({"warmup": 40, "lr": 0.3}, 440)


def best_of(program: Program, rates: list[float], refused: float = math.inf) -> Tuned | None:
    tuning = tuned(
        subject(),
        "tune",
        Variant({}, 200),
        rates,
        goal="?",
        refused=lambda readings: float(readings[0].record.trial.config["lr"] or 0) > refused,
    )
    try:
        study = next(tuning)
        while True:
            study = tuning.send(results_of(study, program))
    except StopIteration as ended:
        found: Tuned | None = ended.value
        return found


def test_a_best_rate_at_an_end_is_known_to_be_one() -> None:
    program = Program(limit=1e6, optimum=1e4)
    assert best_of(program, [0.1, 0.3, 1.0]) == Tuned(10.0, 10.0, "high")
    # Where a rate does not work, the one below is no end.
    assert best_of(replace(program, limit=0.5, diverges=True), [0.1, 0.3, 1.0]) == Tuned(0.3, 0.3)
    assert best_of(program, [0.1, 0.3, 1.0], refused=0.5) == Tuned(0.3, 0.3)
    assert best_of(replace(program, limit=0.0, diverges=True), [0.1, 0.3]) is None


def test_no_range_is_widened_beyond_what_works() -> None:
    fixed = {"warmup": 0, "clip": None}
    space = Space.of(nuisance={"lr": Float(0.01, 0.2, log=True)}, fixed=fixed)
    for highest, after in ((math.inf, 0.95), (0.5, 0.5), (0.1, 0.3)):
        (edit,) = rate_edit(subject(space=space), 0.3, "why", highest)
        assert edit.source == Float(0.01, after, log=True)


@pytest.mark.parametrize(
    ("source", "after"),
    [
        (Float(0.001, 10, log=True), None),
        (Float(0.001, 0.5, log=True), Float(0.001, 0.95, log=True)),
        (Float(0.2, 10, log=True), Float(0.095, 10, log=True)),
        (Choice((0.1, 0.3)), None),
        (Choice((0.1, 1.0)), Choice((0.1, 1.0, 0.3))),
    ],
)
def test_the_rate_is_within_what_is_searched(source: Domain, after: Domain | None) -> None:
    about = subject(space=Space.of(nuisance={"lr": source}, fixed={"warmup": 0, "clip": None}))
    assert [edit.source for edit in rate_edit(about, 0.3, "why")] == ([after] if after else [])


def test_a_fixed_rate_is_set_and_a_derived_one_left() -> None:
    (edit,) = rate_edit(subject(), 0.3, "why")
    assert (edit.name, edit.source, edit.because) == ("lr", Fixed(0.3), "why")
    derived = Parameter("lr", Role.FIXED, Derived("base * 0.03"))
    space = Space((*Space.of(fixed={"base": 1.0, "warmup": 0, "clip": None}), derived))
    assert rate_edit(subject({"base": 1.0}, space=space), 0.3, "why") == ()
