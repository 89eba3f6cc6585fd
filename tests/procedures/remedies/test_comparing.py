"""Whether a remedy pays: how often nothing is adopted, and how often something is missed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from simulated_probes import results_of
from simulated_remedies import DIVERGED, Program, subject
from tunebook.core.domains import Choice, Domain, Float
from tunebook.core.objective import Metric
from tunebook.core.space import Derived, Fixed, Parameter, Role, Space
from tunebook.procedures.remedies.comparing import (
    LEVEL,
    Comparison,
    Outcomes,
    Tuned,
    Variant,
    over_seeds,
    rate_edit,
    rates_up_to,
    tuned,
    with_rate,
)

ERROR, ACCURACY = Metric("error"), Metric("accuracy", "higher")


def compared(before: list[float], after: list[float], lost: tuple[int, int] = (0, 0)) -> Comparison:
    return Comparison(ERROR, Outcomes(tuple(before), lost[0]), Outcomes(tuple(after), lost[1]))


def adopted(gain: float, seeds: int = 5, failing: float = 0.0, count: int = 600) -> float:
    """How often a remedy of so many standard deviations is adopted."""
    rng = np.random.default_rng(seeds)
    found = []
    for _ in range(count):
        before, after = rng.normal(size=seeds), rng.normal(size=seeds) - gain
        lost = rng.random((2, seeds)) < failing
        before, after = before[~lost[0]], after[~lost[1]]
        one = compared(list(before), list(after), (int(lost[0].sum()), int(lost[1].sum())))
        found.append(one.is_better)
    return float(np.mean(found))


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_what_brings_nothing_is_seldom_adopted(seeds: int) -> None:
    """In 2.5% of comparisons, of which there are two at most; four standard errors are allowed."""
    assert adopted(0.0, seeds) <= LEVEL + 4 * (LEVEL * (1 - LEVEL) / 600) ** 0.5
    assert 2 * LEVEL <= 0.05


@pytest.mark.parametrize("failing", [0.1, 0.3, 0.6])
def test_nor_where_some_seeds_fail_by_chance(failing: float) -> None:
    assert adopted(0.0, 5, failing) <= LEVEL


def test_what_helps_is_adopted() -> None:
    """With five seeds, two and a half standard deviations are seen in nine of ten comparisons."""
    assert adopted(2.5) >= 0.85
    assert adopted(1.0, seeds=20) >= 0.8
    assert adopted(-3.0) == 0.0


def test_a_remedy_with_which_all_seeds_work() -> None:
    assert compared([0.2], [0.1, 0.1, 0.1, 0.1, 0.1], (4, 0)).is_better
    # Two of five that fail may be luck.
    assert not compared([0.1, 0.2, 0.3], [0.15, 0.16, 0.2, 0.2, 0.25], (2, 0)).is_better
    # And one that fails itself is no remedy.
    assert not compared([], [0.1, 0.1, 0.1, 0.1], (5, 1)).is_better


def test_higher_may_be_better() -> None:
    worse, better = Outcomes((0.5, 0.51, 0.52)), Outcomes((0.9, 0.91, 0.92))
    assert Comparison(ACCURACY, worse, better).is_better
    assert not Comparison(ACCURACY, better, worse).is_better
    gain = Comparison(ACCURACY, worse, better).gain
    assert gain is not None
    assert gain.estimate == pytest.approx(0.4)


def test_what_it_says() -> None:
    assert str(compared([0.2, 0.3], [0.1, 0.1])) == (
        "error 0.1 against 0.25, over 2 and 2 fresh seeds: a gain of 0.15 (-0.4853 to 0.7853)"
    )
    assert str(compared([], [0.1, 0.1], (2, 0))) == (
        "error 0.1 against nothing, over 2 and 2 fresh seeds; of these, 0 and 2 came to nothing"
    )
    few = compared([0.2], [0.1, 0.1])
    assert str(few) == "too few trials came to an end to compare them"
    assert few.p is None
    assert not few.is_better


def test_rates_reach_from_below_the_best_to_the_peak() -> None:
    assert rates_up_to(0.03, 0.95) == [0.0095, 0.03, 0.095, 0.3, 0.95]
    assert len(rates_up_to(0.03, 95)) == 9
    assert rates_up_to(0.03, 0.001) == [0.0095, 0.03]


def test_a_variant_is_tuned_and_run_on_fresh_seeds() -> None:
    about = subject(probe="warmup")
    variant = Variant({"warmup": 40}, 440)
    program = Program(limit=1.0, optimum=0.3)
    tuning = tuned(about, "tune", variant, [0.1, 0.3, 1.0], goal="?")
    study = next(tuning)
    assert (study.budget.amount if study.budget else 0) == 440
    with pytest.raises(StopIteration) as ended:
        tuning.send(results_of(study, program))
    assert ended.value.value == Tuned(0.3, 1.0)
    assert study.trials == 2
    chosen = with_rate(about, variant, 0.3)
    assert chosen == Variant({"warmup": 40, "lr": 0.3}, 440)
    running = over_seeds(about, "compare-after", chosen, seeds=4, goal="?")
    fresh = next(running)
    results = results_of(fresh, lambda c, s, n: program(c, s, n) if s % 2 else DIVERGED)
    assert all(record.trial.config["warmup"] == 40 for record in results)
    seeds = {record.trial.seed for record in results}
    assert len(seeds) == 4
    assert not seeds & {study.trial_seed(index) for index in range(10)}
    with pytest.raises(StopIteration) as ended:
        running.send(results)
    lost = sum(seed % 2 == 0 for seed in seeds)
    assert ended.value.value.lost == lost
    assert len(ended.value.value.values) == 4 - lost


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


def test_the_worse_of_two_must_be_well_tuned() -> None:
    low, high = (0.1, 0.11, 0.12), (0.3, 0.31, 0.32)
    better = Comparison(ERROR, Outcomes(high), Outcomes(low, end="high"))
    assert better.is_better
    assert better.half_tuned is None
    open_still = Comparison(ERROR, Outcomes(high, end="low"), Outcomes(low))
    assert not open_still.is_better
    assert open_still.half_tuned is open_still.before
    no_better = Comparison(ERROR, Outcomes(low), Outcomes(high, end="high"))
    assert no_better.half_tuned is no_better.after


def test_as_good_is_not_worse_at_20_percent() -> None:
    assert compared([0.1, 0.2, 0.3], [0.12, 0.21, 0.29]).is_as_good
    assert not compared([0.1, 0.11, 0.12], [0.14, 0.15, 0.16]).is_as_good
    assert not compared([0.1, 0.2, 0.3], [0.1, 0.2], (0, 1)).is_as_good


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
