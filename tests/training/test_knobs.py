"""The loop's knobs name what the loop has."""

from __future__ import annotations

from dataclasses import fields

from tunebook.core.knobs import PARAMETER_KNOBS
from tunebook.training.knobs import LOOP_DEFAULTS, LOOP_KNOBS, REGULARISERS
from tunebook.training.optimisers import OPTIMISERS
from tunebook.training.recipe import Recipe

RECIPE = {field.name: field.default for field in fields(Recipe)}


def test_knobs_name_parameters_of_the_recipe() -> None:
    named = {getattr(LOOP_KNOBS, knob) for knob in PARAMETER_KNOBS} - {None}
    assert named <= RECIPE.keys()
    # A knob that the loop has and does not name would be asked of everybody who gives a task.
    assert named == RECIPE.keys() & {
        *("learning_rate", "batch_size", "warmup_steps", "clip_norm", "eval_every", "schedule"),
        *("seed_init", "seed_data", "seed_split"),
    }


def test_defaults_are_those_of_the_recipe() -> None:
    own = {name: value for name, value in LOOP_DEFAULTS.items() if name in RECIPE}
    assert own == {name: RECIPE[name] for name in own}
    # What is none of the recipe's is the optimiser's, and null means its default.
    others = LOOP_DEFAULTS.keys() - own.keys()
    assert others == {"weight_decay"}
    assert LOOP_DEFAULTS["weight_decay"] is None
    assert all("weight_decay" in optimiser.defaults for optimiser in OPTIMISERS.values())


def test_regularisers_are_switched_off_by_zero() -> None:
    assert REGULARISERS == ("weight_decay", "dropout", "label_smoothing")
