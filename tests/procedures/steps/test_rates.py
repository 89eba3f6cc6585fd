"""At which rate the study's own training is made longer: planted starts, and what came of both."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simulated_lengths import GUESS, LOST, ended
from simulated_probes import Made, Training, results_of, subject_of
from tunebook.core.curves import Curve
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config
from tunebook.procedures.steps.longer import SEEDS, Longer, lengthened
from tunebook.procedures.steps.longer_words import answer, because
from tunebook.procedures.steps.rates import Rates, is_far

KNOBS = Knobs(learning_rate="lr")
START = 0.1


def slow_away_from(best: float) -> Training:
    """Results improve until 200 steps at the best rate, and ever later the further away."""

    def train(config: Config, seed: int, steps: int) -> Made:
        away = abs(math.log10(float(config["lr"] or 0) / best))
        value = 0.1 + 0.02 * max(math.log2(200 * 64**away / steps), 0.0) + 0.05 * away
        return {"valid/error": Curve.of([steps], [value])}

    return train


def made_of(train: Training, fastest: float | None) -> tuple[Longer, list[str]]:
    subject = subject_of({"lr": START}, KNOBS, steps=50)
    made, studies = ended(lengthened(subject, GUESS, None, goal="?", fastest=fastest), train)
    return made, [study.name.rpartition(".")[2] for study in studies]


@pytest.mark.parametrize("fastest", [0.01, 1.0])
def test_a_start_too_high_or_too_low_does_not_decide(fastest: float) -> None:
    """By its own rate alone either would be lengthened to the last."""
    alone, _ = made_of(slow_away_from(fastest), None)
    assert alone.steps == 8 * GUESS and alone.may_gain
    made, stages = made_of(slow_away_from(fastest), fastest)
    assert stages == ["rates", "own-1", "own-2", "own-4"]
    assert made.rates is not None and made.rates.better == fastest
    assert made.steps == 2 * GUESS and not made.may_gain


@pytest.mark.parametrize("fastest", [START, 0.2, 0.05])
def test_a_healthy_start_is_trained_as_it_is(fastest: float) -> None:
    made, stages = made_of(slow_away_from(START), fastest)
    assert stages == ["own-1", "own-2", "own-4"]
    assert made.rates is None and made.steps == 2 * GUESS
    assert made_of(slow_away_from(START), None) == (made, stages)


def test_a_start_that_is_far_and_better_all_the_same_stays() -> None:
    made, stages = made_of(slow_away_from(START), 0.01)
    assert made.rates is not None and not made.rates.is_other
    assert stages[0] == "rates" and made.steps == 2 * GUESS
    subject = subject_of({"lr": START}, KNOBS, steps=50)
    assert "so 0.1 was kept." in answer(subject, made).sentence
    assert "Tune lr" not in answer(subject, made).advice
    assert "instead" not in because(subject, made)


def test_the_better_rate_is_told() -> None:
    made, _ = made_of(slow_away_from(0.01), 0.01)
    subject = subject_of({"lr": START}, KNOBS, steps=50)
    found = answer(subject, made)
    assert found.sentence == (
        "200 steps are enough for the study's own training: twice as many gain 0 (standard error "
        "0). With its schedule, its regularisation and lr 0.01, the mean valid/error is 0.12 after "
        "100 steps, 0.1 after 200 and 0.1 after 400, on 4 seeds. At lr 0.01 the training set was "
        "fitted fastest; over 100 steps the mean is 0.12 at 0.01 and 0.29 at the start's 0.1, so "
        "0.01 was taken."
    )
    assert len(found.sentence.split()) <= 75
    assert found.advice == (
        "Tune lr first: 0.01 is better than 0.1. Give trials 200 steps; they have 50."
    )
    assert because(subject, made) == (
        "The fewest steps beyond which longer training gained nothing above noise, at lr 0.01 "
        "instead of 0.1."
    )


def test_a_rate_that_comes_to_nothing_is_not_taken() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return LOST if config["lr"] == START else slow_away_from(1.0)(config, seed, steps)

    made, _ = made_of(train, 1.0)
    assert made.rates is not None and made.rates.better == 1.0
    assert (
        "the mean is 0.12 at 1 and nothing at the start's 0.1, so 1 was taken."
        in answer(subject_of({"lr": START}, KNOBS, steps=50), made).sentence
    )


def test_both_rates_have_the_same_seeds_and_the_guess() -> None:
    subject = subject_of({"lr": START}, KNOBS, steps=50)
    _, studies = ended(
        lengthened(subject, GUESS, None, goal="?", fastest=1.0), slow_away_from(START)
    )
    first = studies[0]
    assert first.budget is not None and first.budget.amount == GUESS and first.trials == SEEDS
    trials = [record.trial for record in results_of(first, slow_away_from(START))]
    seeds = {rate: [t.seed for t in trials if t.config["lr"] == rate] for rate in (0.1, 1.0)}
    assert seeds[0.1] == seeds[1.0] and len(set(seeds[1.0])) == SEEDS


def equal_but_for(gain: float, seed: int) -> Longer:
    """Two rates in one noise, one of which is better by so many of its standard deviations."""

    def train(config: Config, own: int, steps: int) -> Made:
        rate = float(config["lr"] or 0)
        luck = np.random.default_rng([own, int(1e4 * rate), steps]).normal()
        value = 0.3 + 0.02 * (luck - (gain if rate != START else 0.0))
        return {"valid/error": Curve.of([steps], [value])}

    subject = subject_of({"lr": START}, KNOBS, steps=50, seed=seed)
    return ended(lengthened(subject, GUESS, 2 * GUESS, goal="?", fastest=1.0), train)[0]


def test_equal_rates_are_seldom_told_apart() -> None:
    """Two standard errors of four seeds: 7 in 100 by luck."""
    found = [equal_but_for(0.0, seed) for seed in range(200)]
    others = sum(made.rates is not None and made.rates.is_other for made in found)
    assert others <= 0.07 * 200 + 2.5 * math.sqrt(200 * 0.065)
    same = next(made for made in found if made.rates is not None and not made.rates.differ)
    told = answer(subject_of({"lr": START}, KNOBS, steps=50), same)
    assert "which do not differ beyond noise: 0.1 was kept" in told.sentence
    assert "Tune lr" not in told.advice


def test_a_rate_that_is_clearly_better_is_taken() -> None:
    found = [equal_but_for(5.0, seed).rates for seed in range(60)]
    assert sum(rates is not None and rates.better == 1.0 for rates in found) >= 55


GONE = [math.inf] * 4


@pytest.mark.parametrize(
    ("start", "fastest", "better", "differ"),
    [
        ([0.30, 0.40, 0.35, 0.50], [0.20, 0.31, 0.25, 0.40], 1.0, True),
        ([0.20, 0.31, 0.25, 0.40], [0.30, 0.40, 0.35, 0.50], 0.1, True),
        ([0.30, 0.40, 0.35, 0.50], [0.20, 0.45, 0.36, 0.48], 0.1, False),
        ([0.2] * 4, [0.2] * 4, 0.1, False),
        ([math.inf, math.inf, math.inf, 0.2], [0.5, 0.6, math.inf, 0.5], 1.0, True),
        ([0.5, 0.6, 0.7, 0.5], [0.2, math.inf, math.inf, math.inf], 0.1, True),
        ([0.5, 0.6, 0.7, math.inf], [0.4, 0.5, 0.6, 0.4], 1.0, True),
        (GONE, GONE, 0.1, False),
        ([0.2], [0.1], 0.1, False),
        ([], [0.2] * 4, 0.1, False),
        ([], [], 0.1, False),
    ],
)
def test_the_start_stays_unless_the_other_is_clearly_better(
    start: list[float], fastest: list[float], better: float, differ: bool
) -> None:
    losses = {0.1: dict(enumerate(start)), 1.0: dict(enumerate(fastest))}
    rates = Rates(0.1, 1.0, 100, losses)
    assert rates.better == better and rates.differ == differ


def test_the_mean_is_that_of_what_works() -> None:
    rates = Rates(0.1, 1.0, 100, {0.1: {1: 0.2, 2: 0.4, 3: math.inf}, 1.0: {1: 0.2, 2: math.inf}})
    assert rates.mean(0.1) == pytest.approx(0.3) and rates.mean(1.0) == 0.2
    assert Rates(0.1, 1.0, 100, {0.1: {1: math.inf}}).mean(0.1) == math.inf == rates.mean(0.5)


def test_three_times_is_far_on_either_side() -> None:
    assert is_far(0.31, 0.1) and is_far(0.1, 0.31)
    assert not is_far(0.29, 0.1) and not is_far(0.1, 0.29)
