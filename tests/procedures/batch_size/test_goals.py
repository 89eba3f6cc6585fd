"""When a trial reached its goal, and what a goal needs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from simulated_batches import KNOBS, subject
from tunebook.core.curves import Curve
from tunebook.core.errors import StudyError
from tunebook.core.evidence import Reading, Standing
from tunebook.core.objective import Metric
from tunebook.core.results import TrialRecord
from tunebook.core.space import Setting
from tunebook.core.trials import FromSequence, Trial
from tunebook.procedures.batch_size.goals import Goal, steps_judge
from tunebook.procedures.batch_size.probe import probe

GOAL = Goal(Metric("valid/error"), 0.1)


def record(values: list[float]) -> TrialRecord:
    curve = Curve.of([10 * (i + 1) for i in range(len(values))], values)
    trial = Trial("small", 1, Setting(), {}, 0, FromSequence(0))
    return TrialRecord(trial, (), {"valid/error": curve})


@pytest.mark.parametrize(
    ("values", "crossing", "steps"),
    [
        ([0.5, 0.3, 0.05, 0.4], (20.0, 30.0), 28.0),
        # However long it goes on, and what comes of it.
        ([0.5] * 17 + [0.05] * 8, (170.0, 180.0), 170 + 80 / 9),
        ([0.5] * 17 + [0.05] * 8 + [0.2, 0.05] * 40, (170.0, 180.0), 170 + 80 / 9),
        # A single one of many is luck.
        ([0.5] * 8 + [0.05] + [0.5] * 8 + [0.05] * 8, (170.0, 180.0), 170 + 80 / 9),
        # It ended on its way: known to miss at 230, and no more.
        ([0.5] * 23 + [0.09] * 2, (230.0, math.inf), math.inf),
        ([0.05], (0.0, 10.0), 10.0),
        ([0.5, 0.4], (20.0, math.inf), math.inf),
        ([], (0.0, math.inf), math.inf),
        ([0.5, math.nan, 0.05], (20.0, 30.0), 30.0),
    ],
)
def test_crossings(values: list[float], crossing: tuple[float, float], steps: float) -> None:
    assert GOAL.crossing(record(values)) == crossing
    assert GOAL.steps(record(values)) == pytest.approx(steps)


@pytest.mark.parametrize("until", [1.5, 4.0])
def test_bounds_hold_the_step_in_spite_of_noise(until: float) -> None:
    """Evaluations 4% apart, with 5% of noise: the first to meet the goal holds it in a third."""
    held, middles = 0, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        needed = 1000.0 * math.exp(0.05 * rng.normal())
        x = np.arange(40, int(until * 1000), 40)
        noisy = 0.1 * needed / x * np.exp(0.05 * rng.normal(size=len(x)))
        trial = Trial("small", 1, Setting(), {}, 0, FromSequence(0))
        found = TrialRecord(trial, (), {"valid/error": Curve.of(x, noisy)})
        after, end = GOAL.crossing(found)
        held += after < needed <= end
        middles.append(GOAL.steps(found) / needed)
    assert held >= 140
    assert float(np.median(middles)) == pytest.approx(1.03, abs=0.03)


def test_higher_may_be_better() -> None:
    goal = Goal(Metric("valid/error", "higher"), 0.9)
    assert goal.crossing(record([0.5, 0.95])) == (10.0, 20.0)
    assert goal.text == "valid/error >= 0.9"


def test_a_goal_and_a_learning_rate_are_needed() -> None:
    with pytest.raises(StudyError, match="--goal VALUE, a value of valid/error, or write 'target"):
        next(probe(subject(), {"to_goal": True}))
    about = subject(knobs=replace(KNOBS, learning_rate=None))
    with pytest.raises(
        StudyError, match="the study names none: write 'learning_rate: lr' under knobs"
    ):
        next(probe(about, {"goal": 0.1}))


def test_steps_are_counted_not_epochs() -> None:
    about = subject(knobs=replace(KNOBS, steps="lr", steps_unit="epochs"))
    with pytest.raises(StudyError, match="--to-goal counts steps, and the study counts epochs"):
        next(probe(about, {"goal": 0.1}))


def test_the_target_of_the_study_is_the_goal() -> None:
    about = subject(knobs=replace(KNOBS, target=0.1))
    assert Goal.of(about, {"to_goal": True}).value == 0.1
    assert Goal.of(about, {"goal": 0.2, "sizes": "64,16", "seeds": 2}) == Goal(
        Metric("valid/error"), 0.2, (16, 64), 2
    )


def test_a_size_counts_once() -> None:
    goal = Goal.of(subject(), {"goal": 0.1, "sizes": "64, 16,16,64"})
    assert goal.sizes == (16, 64)
    with pytest.raises(StudyError, match="sizes takes batch sizes in one text, such as 16,64,256"):
        Goal.of(subject(), {"goal": 0.1, "sizes": "16,x"})


def test_trials_are_judged_by_steps_then_by_how_near_they_came() -> None:
    judge = steps_judge(GOAL, 100)

    def score(values: list[float], standing: Standing = Standing.MEASURED) -> float:
        return judge((Reading(record(values), standing),))

    assert score([0.5, 0.05]) < score([0.5, 0.4, 0.05]) < 100
    assert 200 <= score([0.5, 0.2]) < score([0.5, 0.4]) < math.inf
    assert score([0.9, 0.9], Standing.INFEASIBLE) == math.inf
    assert math.isnan(score([], Standing.BROKEN))
