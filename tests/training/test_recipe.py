"""The recipe: every parameter of the loop is checked, and none is left unread."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems_in_torch import Clouds
from runs import MemoryRun
from tunebook.core.domains import Float
from tunebook.core.errors import StudyError
from tunebook.core.space import Space
from tunebook.core.study import Budget
from tunebook.training.loop import train
from tunebook.training.optimisers import OPTIMISERS, completed
from tunebook.training.recipe import ReadParams, Recipe
from tunebook.training.schedules import Schedule

BUDGET = Budget(1000)
RATE = {"learning_rate": 0.1}


def recipe(**params: object) -> Recipe:
    return Recipe.of({**RATE, **params}, BUDGET)  # type: ignore[dict-item]


def refusal(**params: object) -> str:
    with pytest.raises(StudyError) as caught:
        recipe(**params)
    return str(caught.value)


# Fields.


def test_a_configuration_with_a_rate_is_enough() -> None:
    assert recipe() == Recipe(learning_rate=0.1, steps=1000)


def test_null_means_the_default() -> None:
    assert recipe(batch_size=None, clip_norm=None, steps=None) == recipe()


def test_other_parameters_are_not_the_loops() -> None:
    assert recipe(width=64) == recipe()


WRONG = {
    "learning_rate": (0.0, "a number above 0"),
    "steps": (0, "a whole number of at least 1"),
    "optimizer": ("lion", "sgd, momentum, nesterov, rmsprop, adam, nadam or adamw"),
    "batch_size": (0.5, "a whole number of at least 1"),
    "schedule": ("step", "constant, linear, polynomial, cosine, inverse_sqrt or wsd"),
    "warmup_steps": (-1, "a whole number of at least 0"),
    "decay_steps": (0, "a whole number of at least 1"),
    "lr_floor": (1.5, "a number from 0 to 1"),
    "lr_power": (0, "a number above 0"),
    "clip_norm": (0, "a number above 0"),
    "average": ("swa", "none, ema or polyak"),
    "ema_decay": (1.0, "a number from 0 up to 1, without 1"),
    "eval_every": (0, "a whole number of at least 1"),
    "eval_batch_size": (0, "a whole number of at least 1"),
    "valid_sample": (0, "a whole number of at least 1"),
    "train_sample": (0, "a whole number of at least 1"),
    "log_every": (0, "a whole number of at least 1"),
    "checkpoint_every": (0, "a whole number of at least 1"),
    "keep_best": (-1, "a whole number of at least 0"),
    "saved_predictions": (-1, "a whole number of at least 0"),
    "precision": ("half", "float32 or bfloat16"),
    "compile": (1, "true or false"),
    "fused": ("yes", "true or false"),
    "foreach": (0, "true or false"),
    "spread": ("pipeline", "ddp or fsdp"),
    "prefetch": (-1, "a whole number of at least 0"),
    "seed_init": (-1, "a whole number of at least 0"),
    "seed_data": (0.5, "a whole number of at least 0"),
    "seed_split": ("one", "a whole number of at least 0"),
}


def test_every_field_is_checked() -> None:
    assert list(WRONG) == [field.name for field in fields(Recipe)]
    for name, (value, wanted) in WRONG.items():
        assert refusal(**{name: value}) == f"{name} must be {wanted}, got {value!r}"


def test_a_recipe_written_by_hand_is_checked_too() -> None:
    with pytest.raises(StudyError, match="log_every must be a whole number of at least 1, got 0"):
        Recipe(learning_rate=0.1, steps=10, log_every=0)
    with pytest.raises(StudyError, match=r"batch_size must be a whole number .*, got None"):
        Recipe(learning_rate=0.1, steps=10, batch_size=None)  # type: ignore[arg-type]


def test_a_misspelt_name_is_mended() -> None:
    assert refusal(optimizer="adma").endswith("got 'adma'; did you mean 'adam'?")
    assert refusal(schedule="cosin").endswith("got 'cosin'; did you mean 'cosine'?")


def test_numbers_have_their_types() -> None:
    found = recipe(learning_rate=1, batch_size=64.0, eval_every=10.0)
    assert isinstance(found.learning_rate, float)
    assert isinstance(found.batch_size, int)
    assert isinstance(found.eval_every, int)


# Steps.


def test_a_budget_of_steps_is_the_length_of_the_body() -> None:
    found = recipe(warmup_steps=100)
    assert found.steps == 1000
    assert found.plan.total == 1100


def test_a_configuration_may_set_its_steps() -> None:
    assert recipe(steps=50).steps == 50


@pytest.mark.parametrize(
    ("budget", "got"),
    [
        (None, "no budget"),
        (Budget(60, "seconds"), "a budget of 60 seconds"),
        (Budget(10**6, "examples"), "a budget of 1e+06 examples"),
    ],
)
def test_without_steps_there_is_no_plan(budget: Budget | None, got: str) -> None:
    with pytest.raises(StudyError) as caught:
        Recipe.of(RATE, budget)
    assert str(caught.value) == f"the loop needs a number of steps, got {got}: set max_steps"


def test_without_a_rate_there_is_no_plan() -> None:
    with pytest.raises(StudyError, match="the loop needs a learning rate: add learning_rate"):
        Recipe.of({}, BUDGET)


def test_a_budget_of_half_a_step_is_refused() -> None:
    with pytest.raises(StudyError, match=r"steps must be a whole number of at least 1, got 2.5"):
        Recipe.of(RATE, Budget(2.5))


# What follows from the fields.


def test_the_plan_is_the_schedule_of_the_fields() -> None:
    found = recipe(
        schedule="polynomial", warmup_steps=10, decay_steps=200, lr_floor=0.1, lr_power=2
    )
    assert found.plan == Schedule(0.1, 1000, "polynomial", 10, decay=200, floor=0.1, power=2.0)


def test_intervals_follow_from_all_steps_unless_given() -> None:
    found = recipe(warmup_steps=200)
    assert (found.evaluation_interval, found.checkpoint_interval) == (60, 300)
    short = recipe(steps=3)
    assert (short.evaluation_interval, short.checkpoint_interval) == (1, 1)
    given = recipe(eval_every=7, checkpoint_every=11)
    assert (given.evaluation_interval, given.checkpoint_interval) == (7, 11)


def test_evaluation_uses_at_least_the_training_batch() -> None:
    assert recipe(batch_size=64).evaluation_batch == 64
    assert recipe(batch_size=64, eval_batch_size=256).evaluation_batch == 256
    assert recipe(batch_size=64, eval_batch_size=16).evaluation_batch == 64


def test_what_the_past_keeps_in_an_average() -> None:
    assert recipe(average="ema", ema_decay=0.9).past_share == 0.9
    assert recipe(average="polyak").past_share is None


def test_hyperparameters_are_those_of_the_optimiser() -> None:
    params = {**RATE, "optimizer": "momentum", "momentum": 0.5, "weight_decay": None, "beta1": 0.3}
    assert recipe(**params).hyper(params) == {"learning_rate": 0.1, "momentum": 0.5}


# Parameters that nobody reads.


def read(params: dict[str, object], *names: str) -> ReadParams:
    found = ReadParams(params)  # type: ignore[arg-type]
    for name in names:
        found.get(name)
    return found


def complaint(params: ReadParams) -> str:
    with pytest.raises(StudyError) as caught:
        params.check_all_read()
    return str(caught.value)


def test_it_is_the_configuration() -> None:
    params = {"a": 1, "b": "x"}
    found = ReadParams(params)
    assert dict(found) == params
    assert len(found) == 2
    assert "a" in found
    assert "c" not in found
    assert 3 not in found
    assert found.get("c", 5) == 5
    with pytest.raises(KeyError, match="c"):
        found["c"]


def test_reading_everything_is_accepted_and_looking_is_not_reading() -> None:
    params = ReadParams({"a": 1, "b": 2})
    assert all(name in params for name in params)
    assert complaint(params).startswith("neither the loop nor the task reads a, b")
    assert [params["a"], params["b"]] == [1, 2]
    params.check_all_read()


def test_a_misspelt_parameter_is_mended() -> None:
    params = read({"droput": 0.1}, "dropout", "width")
    assert complaint(params) == (
        "neither the loop nor the task reads droput; did you mean 'dropout'?"
    )


def test_a_parameter_without_effect_is_refused() -> None:
    params = read({"width": 64, "beta1": 0.9}, "width")
    assert complaint(params) == (
        "neither the loop nor the task reads beta1; remove it, or say by `when` where it exists"
    )


def test_what_a_parameter_is_derived_from_need_not_be_read() -> None:
    params = {"learning_rate": 0.1, "base_learning_rate": 0.2, "one_minus_momentum": 0.1}
    assert complaint(read(params, "learning_rate")).startswith(
        "neither the loop nor the task reads one_minus_momentum;"
    )
    read({**params, "momentum": 0.9}, "learning_rate", "momentum").check_all_read()


@pytest.mark.parametrize("name", ["max_learning_rate", "new_base_learning_rate", "adam.base_lr"])
def test_a_name_that_only_ends_like_another_is_not_read(name: str) -> None:
    assert name in complaint(read({"learning_rate": 0.1, "lr": 1, name: 1}, "learning_rate", "lr"))


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (
            {"lr_power": 2.0, "schedule": "linear"},
            "lr_power does nothing where schedule is linear; if it is searched, "
            "say `when: {lr_power: {schedule: polynomial}}`",
        ),
        ({"lr_floor": 0.1}, "lr_floor does nothing where schedule is constant; .*schedule: linear"),
        ({"decay_steps": 9}, "decay_steps does nothing where schedule is constant"),
        ({"average": "polyak", "ema_decay": 0.9}, "ema_decay does nothing where average is polyak"),
    ],
)
def test_a_parameter_that_does_nothing_is_told(params: dict[str, object], sentence: str) -> None:
    with pytest.warns(UserWarning, match=sentence):
        assert recipe(**params).steps == 1000


def test_parameters_that_do_something_are_not_told() -> None:
    # Warnings are errors here.
    recipe(schedule="polynomial", lr_power=2.0, lr_floor=0.1, decay_steps=10)
    recipe(average="ema", ema_decay=0.9, schedule="constant", lr_power=None)


def test_a_choice_may_have_parameters_of_its_own() -> None:
    params = read({"optimizer": "adam", "adam.beta1": 0.8, "adam.one_minus_beta1": 0.2})
    assert "beta1" in params
    assert params["beta1"] == 0.8
    assert params.get("beta2") is None
    assert params["optimizer"] == "adam"
    params.check_all_read()


def test_a_parameter_of_another_choice_is_not_read() -> None:
    params = read({"optimizer": "adam", "momentum.beta1": 0.8}, "optimizer", "beta1")
    assert "momentum.beta1" in complaint(params)


def test_a_plain_name_comes_before_that_of_a_choice() -> None:
    params = read({"optimizer": "adam", "beta1": 0.9, "adam.beta1": 0.8}, "optimizer")
    assert params["beta1"] == 0.9
    assert "adam.beta1" in complaint(params)


@given(st.sampled_from(["adam", "nesterov"]), st.floats(0, 1))
def test_a_study_of_optimisers_gives_each_its_own_ranges(name: str, unit: float) -> None:
    space = Space.of(
        scientific={"optimizer": ["adam", "nesterov"]},
        nuisance={
            "adam.learning_rate": Float(1e-5, 1e-1, log=True),
            "adam.one_minus_beta1": Float(1e-3, 1, log=True),
            "nesterov.learning_rate": Float(1e-3, 1, log=True),
            "nesterov.one_minus_momentum": Float(1e-3, 1, log=True),
        },
        derive={
            "adam.beta1": "1 - adam.one_minus_beta1",
            "nesterov.momentum": "1 - nesterov.one_minus_momentum",
        },
        when={
            f"{choice}.{parameter}": {"optimizer": choice}
            for choice, parameter in (
                ("adam", "learning_rate"),
                ("adam", "one_minus_beta1"),
                ("nesterov", "learning_rate"),
                ("nesterov", "one_minus_momentum"),
            )
        },
    )
    setting = next(s for s in space.settings() if s.config["optimizer"] == name)
    config = space.decode(setting, {p.name: unit for p in space.searched(setting)})
    params = ReadParams(config)
    found = Recipe.of(params, BUDGET)
    hyper = completed(found.optimizer, found.hyper(params))
    params.check_all_read()
    assert found.learning_rate == config[f"{name}.learning_rate"]
    momentum = "beta1" if name == "adam" else "momentum"
    assert hyper[momentum] == config[f"{name}.{momentum}"]


# The loop.


@pytest.mark.parametrize("optimizer", OPTIMISERS)
def test_the_loop_trains_with_every_optimiser(tmp_path: Path, optimizer: str) -> None:
    params = {"optimizer": optimizer, f"{optimizer}.learning_rate": 0.02, "warmup_steps": 5}
    rarely = {"eval_every": 30, "checkpoint_every": 30, "keep_best": 0}
    run = MemoryRun(tmp_path, {**params, **rarely, "width": 8}, steps=25)
    train(Clouds(), run)
    losses = run.curve("train/loss")
    assert losses.steps[-1] == 30
    assert losses.values[-5:].mean() < losses.values[:5].mean()


def test_the_loop_refuses_a_parameter_that_nobody_reads(tmp_path: Path) -> None:
    run = MemoryRun(tmp_path, {"learning_rate": 0.1, "dropuot": 0.5}, steps=3)
    with pytest.raises(StudyError, match=r"reads dropuot; did you mean 'dropout'\?"):
        train(Clouds(), run)
