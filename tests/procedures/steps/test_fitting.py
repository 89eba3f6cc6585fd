"""When a training set is fitted: which metric tells, by which step, and what is left."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from simulated_probes import subject_of
from tunebook.core.curves import Curve
from tunebook.core.evidence import Reading, Standing
from tunebook.core.knobs import Knobs
from tunebook.core.results import TrialRecord
from tunebook.core.space import Setting
from tunebook.core.study import Asked
from tunebook.core.trials import FromSequence, Trial
from tunebook.procedures.steps.fitting import Fit, course, fit_of, fitted, left_over, needed
from tunebook.procedures.subjects import Subject, completed

EXACT = Fit("train/error", 0.0, {}, smooth=False)
BATCHES = Fit("train/loss", 0.1, {}, smooth=True)


def reading(
    values: np.ndarray | list[float],
    metric: str = "train/error",
    every: int = 10,
    standing: Standing = Standing.MEASURED,
) -> Reading:
    trial = Trial("small", 1, Setting(), {"lr": 0.1}, 1, FromSequence(0))
    curve = Curve.of(every * np.arange(1, len(values) + 1), values)
    return Reading(TrialRecord(trial, (), {metric: curve}), standing)


def test_what_tells() -> None:
    both = Knobs(learning_rate="lr", train_loss="train/loss", train_error="train/error")
    subject = subject_of({"lr": 0.1}, both)
    assert fit_of(subject, None) == replace(EXACT, smooth=True)
    assert fit_of(subject, 0.1) == BATCHES
    assert fit_of(subject_of({"lr": 0.1}, Knobs(learning_rate="lr")), None) is None
    task = completed(replace(subject.study, program=None, task="x:y", knobs=Knobs()))
    found = fit_of(Subject(Asked("steps", task)), None)
    assert found is not None and found.metric == "train_sample/error" and found.fix


def test_steps_are_known_between_two_evaluations() -> None:
    reached = fitted(reading([0.4, 0.1, 0.0, 0.0]), EXACT)
    assert reached is not None and (reached.after, reached.until) == (20, 30)
    never = fitted(reading([0.4, 0.1, 0.01]), EXACT)
    assert never is not None and not never.reached
    assert fitted(reading([], "other"), EXACT) is None


def test_the_fastest_comes_first_and_what_does_not_fit_behind_all() -> None:
    judge = needed(EXACT, most=40)
    fast, slow = reading([0.4, 0.0, 0.0, 0.0]), reading([0.4, 0.2, 0.1, 0.0])
    near, far = reading([0.4, 0.2, 0.1, 0.1]), reading([0.4, 0.4, 0.4, 0.4])
    scores = [judge([one]) for one in (fast, slow, near, far)]
    assert scores == sorted(scores) and scores[1] == 40 < scores[2] < scores[3] < 80
    assert judge([fast, slow]) == 30
    assert judge([reading([0.4], standing=Standing.INFEASIBLE), fast]) == math.inf
    assert math.isnan(judge([reading([0.4], standing=Standing.BROKEN)]))


def test_what_is_left_and_whether_it_falls() -> None:
    rng = np.random.default_rng(0)
    x = np.arange(60)
    falling = 0.5 - 0.005 * x + 0.002 * rng.normal(size=60)
    flat = 0.2 + 0.3 * np.exp(-x / 5) + 0.002 * rng.normal(size=60)
    assert course(reading(falling), EXACT, 600) == "falling"
    assert course(reading(flat), EXACT, 600) == "level"
    assert course(reading([0.5, 0.4]), EXACT, 20) == "unclear"
    assert left_over(reading(flat), EXACT) == pytest.approx(0.2, abs=0.01)
    assert left_over(reading([0.05], "train/loss"), BATCHES) == 0


def courses(ends: float, noise: float) -> list[str]:
    """How curves go on that fall from 0.2 to a share of it over as many steps again."""
    fall = np.concatenate([np.linspace(0.6, 0.2, 20), 0.2 * ends ** (np.arange(1, 31) / 50)])
    return [
        course(reading(fall + noise * np.random.default_rng(seed).normal(size=50)), EXACT, 500)
        for seed in range(200)
    ]


def test_level_curves_are_called_level_where_noise_lets_that_be_seen() -> None:
    found = courses(1.0, 0.002)
    assert found.count("level") >= 190 and found.count("falling") <= 4
    # Where it does not, nothing is claimed, but for one curve in twenty that falls by luck.
    found = courses(1.0, 0.02)
    assert found.count("unclear") >= 150 and found.count("falling") <= 20


@pytest.mark.parametrize("noise", [0.002, 0.01, 0.02, 0.05])
def test_curves_that_fall_slowly_are_not_called_level(noise: float) -> None:
    """Planted: half of what is left would go over as many steps again."""
    found = courses(0.5, noise)
    assert found.count("level") <= 10
    assert noise > 0.002 or found.count("falling") >= 195
