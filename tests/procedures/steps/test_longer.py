"""Longer training of the study's own: planted truths, noise alone, the cap, what is lost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from simulated_lengths import GUESS, KNOBS, LOST, followed, improves, loses
from simulated_probes import Made, Training, subject_of
from tunebook.core.curves import Curve
from tunebook.core.domains import Value
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.procedures.steps.gains import Gain
from tunebook.procedures.steps.longer import FACTORS, SEEDS
from tunebook.procedures.subjects import Subject


def steps_of(study: Study) -> int:
    assert study.budget is not None
    return int(study.budget.amount)


def test_what_improves_until_four_times_the_guess_gets_as_many() -> None:
    """In doubt, longer: fewer is the exception, and eight times only now and then."""
    found = [followed(improves(400), seed=seed)[0].steps for seed in range(60)]
    assert sum(steps < 400 for steps in found) <= 3
    assert sum(steps == 400 for steps in found) >= 40


def test_a_guess_that_is_enough_is_kept() -> None:
    made, studies = followed(improves(100, noise=0.0))
    assert made.steps == 100 and not made.may_gain
    assert [steps_of(study) for study in studies] == [100, 200, 400]


def test_noise_alone_seldom_makes_it_longer() -> None:
    """As the method says: one answer in three, and one probe in ten that tries 8 times as many."""
    found = [followed(improves(100), seed=seed)[0] for seed in range(200)]
    assert sum(made.steps > GUESS for made in found) <= 0.33 * 200 + 2.5 * math.sqrt(200 * 0.22)
    assert sum(len(made.rungs) == 4 for made in found) <= 0.1 * 200 + 2.5 * math.sqrt(200 * 0.09)
    assert sum(made.steps == 800 for made in found) <= 4


def test_what_a_seed_adds_to_all_does_not_count() -> None:
    """Seeds differ by ten times the gain of a doubling, which shows all the same."""
    assert followed(improves(400, noise=0.001, by_seed=0.2))[0].steps in (400, 800)


def test_what_gains_to_the_last_may_gain_more() -> None:
    made, studies = followed(improves(1e9))
    assert made.steps == 800 and made.may_gain
    assert [steps_of(study) for study in studies] == [GUESS * factor for factor in FACTORS]
    assert made.total == 15 * GUESS * SEEDS


@pytest.mark.parametrize(
    ("longest", "tried"),
    [(199, []), (200, [100, 200]), (799, [100, 200, 400]), (800, [100, 200, 400, 800])],
)
def test_no_training_is_longer_than_allowed(longest: int, tried: list[int]) -> None:
    made, studies = followed(improves(1e9), longest=longest)
    assert [steps_of(study) for study in studies] == tried
    assert made.may_gain and made.steps == (tried[-1] if tried else GUESS)


def test_seeds_are_the_same_at_every_length_and_fresh() -> None:
    _, studies = followed(improves(1e9))
    seeds = [[study.trial_seed(i) for i in range(SEEDS)] for study in studies]
    assert all(one == seeds[0] for one in seeds) and len(set(seeds[0])) == SEEDS
    sweep = subject_of({"lr": 0.1}, KNOBS, steps=50).stage("sweep", {}, goal="?")
    assert sweep.trial_seed(0) not in seeds[0]


def test_the_configuration_is_the_study_s_own() -> None:
    """Only what is planned for the steps goes with them."""
    start: dict[str, Value] = {
        "lr": 0.1,
        "schedule": "cosine",
        "dropout": 0.3,
        "every": 10,
        "decay_steps": 25,
    }
    knobs = replace(KNOBS, schedule="schedule", eval_interval="every")
    knobs = replace(knobs, no_regularisation=(("dropout", 0),))
    _, studies = followed(improves(1e9), subject=subject_of(start, knobs, steps=50))
    found = [study.config(study.space.settings()[0], {}) for study in studies]
    assert found == [{**start, "every": 5 * factor} for factor in FACTORS]


def test_the_loop_s_decay_grows_with_its_steps() -> None:
    """Of another program it is not known what a parameter of that name means."""
    start: dict[str, Value] = {"lr": 0.1, "decay_steps": 25}
    own = subject_of(start, KNOBS, steps=50)
    task = replace(own.study, program=None, task="tasks.py:task")
    for subject, planned in (
        (own, [25] * len(FACTORS)),
        (Subject(replace(own.asked, about=task)), [50 * factor for factor in FACTORS]),
    ):
        _, studies = followed(improves(1e9), subject=subject)
        found = [study.config(study.space.settings()[0], {}) for study in studies]
        assert [config["decay_steps"] for config in found] == planned


def test_steps_may_be_a_parameter() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return improves(400, noise=0.0)(config, seed, int(config["n"] or 0))

    subject = subject_of({"lr": 0.1, "n": 50}, replace(KNOBS, steps="n"))
    assert followed(train, subject=subject)[0].steps == 400


def works_from(steps: int) -> Training:
    """Trials of fewer steps come to nothing."""

    def train(config: Config, seed: int, given: int) -> Made:
        return LOST if given < steps else improves(100, noise=0.0)(config, seed, given)

    return train


def test_what_comes_to_nothing_with_few_steps_gets_more() -> None:
    made, _ = followed(works_from(400))
    assert made.gain(0, 1) == Gain(0.0, 0.0)
    assert made.gain(0, 2) == Gain(math.inf, 0.0) and made.gain(2, 0) == Gain(-math.inf, 0.0)
    assert made.steps == 400 and len(made.rungs) == 4 and not made.may_gain


def test_what_comes_to_nothing_with_more_steps_is_no_gain() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return improves(1e9)(config, seed, steps) if steps < 400 else LOST

    made, _ = followed(train)
    assert made.steps == 200 and not made.may_gain


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_seeds_that_are_lost_by_luck_seldom_make_it_longer(share: float) -> None:
    """Where more steps do nothing, as without them: one answer in three."""
    found = [followed(loses(improves(GUESS), share), seed=seed)[0] for seed in range(150)]
    longer = sum(made.is_known and made.steps > GUESS for made in found)
    assert longer <= 0.33 * 150 + 2.5 * math.sqrt(150 * 0.22)


def test_seeds_that_are_lost_by_luck_do_not_hide_a_gain() -> None:
    """Planted: each doubling gains four times the noise, up to four times the guess."""
    found = [followed(loses(improves(4 * GUESS), 0.1), seed=seed)[0] for seed in range(60)]
    assert sum(made.is_known for made in found) >= 50
    assert sum(made.is_known and made.steps < 4 * GUESS for made in found) <= 4


def test_a_seed_that_is_lost_when_longer_does_not_outweigh_the_others() -> None:
    first: list[int] = []

    def train(config: Config, seed: int, steps: int) -> Made:
        first.append(seed)
        if steps > GUESS and seed == first[0]:
            return LOST
        return {"valid/error": Curve.of([steps], [30 / steps])}

    made, _ = followed(train)
    assert made.is_known and made.steps == 8 * GUESS and made.may_gain


@pytest.mark.parametrize("ended", [LOST, Outcome(OutcomeKind.CRASHED, "the machine went away")])
def test_where_nothing_ends_nothing_is_known(ended: Outcome) -> None:
    made, studies = followed(lambda config, seed, steps: ended)
    assert not made.is_known and made.steps == GUESS and made.may_gain and len(studies) == 3


def test_higher_may_be_better() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = improves(400, noise=0.0)(config, seed, steps)
        assert isinstance(made, Mapping)
        curve = made["valid/error"]
        assert isinstance(curve, Curve)
        return {"accuracy": Curve.of(curve.steps, 1 - curve.values)}

    subject = subject_of({"lr": 0.1}, KNOBS, metric="accuracy", better="higher")
    assert followed(train, subject=subject)[0].steps == 400


def test_the_same_results_give_the_same_studies() -> None:
    assert followed(improves(400))[1] == followed(improves(400))[1]
