"""Divergence that a program did not report, told by its curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulation import Plan, draw
from tunebook.core.curves import Curve
from tunebook.diagnosis.divergence import divergence, goes_to_the_end

STEPS = np.arange(1, 41) * 100
FALLING = 1 / np.sqrt(np.arange(1, 41))


def whole(values: np.ndarray = FALLING, steps: np.ndarray = STEPS) -> Curve:
    return Curve.of(steps, values)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_curve_that_ends_in_no_number_has_diverged_where_that_began(bad: float) -> None:
    values = FALLING.copy()
    values[10] = np.nan  # one that it recovered from
    values[30:] = bad
    said = divergence({"valid/loss": whole(values)}, ["valid/loss"], None)
    assert said == "valid/loss is not finite from step 3100 on"


def test_a_curve_of_nothing_but_nan_has_diverged_at_its_first_step() -> None:
    said = divergence({"loss": whole(np.full(40, np.nan))}, ["loss"], None)
    assert said == "loss is not finite from step 100 on"


def test_a_nan_in_the_middle_is_not_divergence() -> None:
    values = FALLING.copy()
    values[5] = np.nan
    assert divergence({"loss": whole(values)}, ["loss"], None) == ""


def test_cells_that_go_blank_beside_others_are_divergence() -> None:
    curves = {"valid/loss": whole().until(2000), "examples": whole(np.ones(40))}
    said = divergence(curves, ["valid/loss"], None)
    assert said == "valid/loss is blank after step 2000 while other metrics go on"


def test_metrics_logged_at_other_steps_do_not_make_a_curve_blank() -> None:
    dense = np.arange(1, 4051)
    curves = {
        "valid/loss": whole(),
        "learning_rate": Curve.of(dense, np.ones(len(dense))),
        "test/loss": Curve.of([4050], [0.1]),
    }
    assert divergence(curves, ["valid/loss"], None) == ""


def test_two_rows_do_not_show_what_is_logged_together() -> None:
    curves = {"valid/loss": Curve.of([1, 2], [0.5, 0.4]), "time": Curve.of([1, 2, 3], [1, 2, 3])}
    assert divergence(curves, ["valid/loss"], None) == ""


def test_a_training_loss_that_ends_where_it_began_has_diverged() -> None:
    values = np.concatenate([FALLING[:20], np.full(20, 1.3)])
    said = divergence({"train/loss": whole(values)}, ["train/loss"], "train/loss")
    assert said == "train/loss ended at 1.3, no lower than it began"
    assert divergence({"train/loss": whole(values)}, ["train/loss"], None) == ""


@pytest.mark.parametrize("name", ["train/loss", "valid/loss", "eval_loss"])
def test_a_loss_that_ends_orders_above_its_beginning_has_diverged(name: str) -> None:
    curves = {name: Curve.of([1, 2, 3], [2.0, 500.0, 3e4]), "acc": Curve.of([1, 2, 3], [0, 1, 0])}
    said = divergence(curves, ["acc"])
    assert said == f"{name} ended at 3e+04, far above the 2 that it began with"
    assert divergence({name: Curve.of([1, 2], [2.0, 3e4])}, ["acc"]) == ""


def test_a_training_loss_of_any_name_may_explode() -> None:
    curves = {"ce": Curve.of([1, 2, 3], [2.0, 1.0, 3e4])}
    said = divergence(curves, ["acc"], "ce")
    assert said == "ce ended at 3e+04, far above the 2 that it began with"
    assert divergence(curves, ["acc"]) == ""


@pytest.mark.parametrize(
    "values", [[2.0, 1.0, 190.0], [2.0, 3e4, 1.0], [0.0, 1.0, 2.0], [-1.0, -500.0, -600.0]]
)
def test_other_ends_of_a_loss_are_no_explosion(values: list[float]) -> None:
    assert divergence({"loss": Curve.of([1, 2, 3], values)}, ["loss"]) == ""


def test_a_part_of_a_loss_may_grow_from_nothing() -> None:
    assert divergence({"train/kl_loss": Curve.of([1, 2, 3], [1e-3, 2.0, 9.0])}, ["elbo"]) == ""


def test_losses_of_any_size_are_compared() -> None:
    huge, tiny = Curve.of([1, 2, 3], [1e308, 1, 0]), Curve.of([1, 2, 3], [1e-320, 1, 1e300])
    assert divergence({"loss": huge}, ["loss"]) == ""
    assert divergence({"loss": tiny}, ["loss"]).startswith("loss ended at 1e+300, far above")


def test_a_reward_may_grow_without_bound() -> None:
    assert divergence({"reward": Curve.of([1, 2, 3], [1.0, 500.0, 900.0])}, ["reward"]) == ""


def test_one_last_high_loss_is_noise() -> None:
    values = FALLING.copy()
    values[-1] = 2.0
    assert divergence({"train/loss": whole(values)}, ["train/loss"], "train/loss") == ""


def test_a_noisy_loss_that_hardly_falls_has_not_diverged() -> None:
    rng = np.random.default_rng(0)
    said = [
        divergence(
            {"loss": whole(2.3 + 0.2 * rng.normal(size=40) + FALLING / 10)}, ["loss"], "loss"
        )
        for _ in range(200)
    ]
    assert sum(map(bool, said)) <= 4


def test_what_was_not_logged_says_nothing() -> None:
    assert divergence({}, ["loss"], "train/loss") == ""
    assert divergence({"loss": Curve.of([], [])}, ["loss"], "loss") == ""


def test_every_loss_must_stay_finite_and_other_metrics_need_not() -> None:
    broken = whole(np.where(STEPS > 3000, np.nan, FALLING))
    said = divergence({"wer": whole(), "valid/ctc_loss": broken}, ["wer"])
    assert said == "valid/ctc_loss is not finite from step 3100 on"
    assert divergence({"wer": whole(), "precision": broken}, ["wer"]) == ""


def test_a_training_loss_that_falls_silent_where_others_do_not_has_diverged() -> None:
    curves = {
        "wer": whole(),
        "train/loss": Curve.of(np.arange(0, 2001, 10), np.geomspace(3, 1, 201)),
    }
    said = divergence(curves, ["wer"], "train/loss", kept_to_the_end=True)
    assert said == "train/loss is blank after step 2000 while other metrics go on"
    # Where all trials log so, that is how they log.
    assert divergence(curves, ["wer"], "train/loss") == ""


def test_most_trials_tell_how_the_training_loss_is_logged() -> None:
    record = draw(Plan(trials=1)).trials[0]
    silent = replace(
        record, curves={**record.curves, "train/loss": record.curves["train/loss"].until(1000)}
    )
    assert goes_to_the_end([record, record, silent], "train/loss")
    assert not goes_to_the_end([record, silent, silent], "train/loss")
    assert not goes_to_the_end([record], None)
    assert not goes_to_the_end([], "train/loss")
