"""What steps to a goal say, in words: what is known, what is open, what was not reached."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tunebook.core.curves import Floats
from tunebook.core.evidence import Reading
from tunebook.core.findings import Finding, Verdict
from tunebook.core.objective import Metric
from tunebook.procedures.batch_size.goal_words import goal_finding
from tunebook.procedures.batch_size.goals import Goal
from tunebook.procedures.batch_size.noise_scale import NoiseScale
from tunebook.procedures.batch_size.pictures import to_goal
from tunebook.procedures.batch_size.to_goal import AtSize, Reached
from tunebook.procedures.sweeps import Sweep
from tunebook.stats.critical_batch import BatchScaling, batch_scaling

SIZES = (16, 64, 256, 1024)
NONE: tuple[Reading, ...] = ()


def at_size(size: int, steps: float, best: int = 1) -> AtSize:
    rates = (0.01, 0.02, 0.04)
    scores = {rate: abs(i - best) + 1.0 for i, rate in enumerate(rates)}
    sweep = Sweep("lr", dict.fromkeys(rates, NONE), scores)
    return AtSize(size, sweep, (), ((steps - 1, steps),) * 3, 1000)


def reached(critical: float, fewest: float = 100.0, best: int = 1, current: int = 64) -> Reached:
    sizes = tuple(at_size(b, round(fewest * (1 + critical / b)), best) for b in SIZES)
    rows: Floats = np.array([(s.size, *c) for s in sizes for c in s.crossings])
    fit = batch_scaling(*rows.T)
    assert isinstance(fit, BatchScaling)
    seconds = {size: 0.01 + 1e-4 * size for size in SIZES}
    soonest = fit.cheapest(lambda size: seconds[int(size)], [float(size) for size in SIZES])
    goal = Goal(Metric("valid/error"), 0.1)
    return Reached(goal, current, sizes, fit, seconds, soonest)


def test_a_critical_size_is_told_with_what_follows() -> None:
    finding = goal_finding(replace(reached(200.0), late=NoiseScale(151.2, 100.0, 190.0)))
    assert finding.sentence.startswith(
        "Steps to valid/error <= 0.1, by batch size: 1,350 at 16, 412 at 64, 178 at 256 and "
        "120 at 1,024. The critical batch size is 2"
    )
    assert "twice the batch halves the steps" in finding.sentence
    assert "Training time on this machine is least at " in finding.sentence
    assert "So is its usage cost, machine time." in finding.sentence
    assert "usage counts examples, and is least at 16, the smallest that rea" in finding.sentence
    assert "Upfront cost (devices, tuning at a new size) is not counted." in finding.sentence
    assert "the gradient-noise scale is 150 (100 to 190) at the goal" in finding.sentence
    assert "do not compare sizes at equal epochs" in finding.advice
    assert finding.numbers["critical"] == pytest.approx(200, rel=0.1)


def test_the_current_size_may_be_the_soonest() -> None:
    soonest = int(reached(200.0).soonest_size or 0)
    assert goal_finding(reached(200.0, current=soonest)).verdict is Verdict.GOOD
    other = goal_finding(reached(200.0, current=1024))
    assert other.verdict is Verdict.WATCH
    assert f"Take a batch size of {soonest} (now 1,024)." in other.advice


def test_the_end_of_what_was_tried_is_called_so() -> None:
    """A size is the soonest of those that were tried; of the smaller ones no more is to be said."""
    end = "the largest that was tried: a larger one may be sooner still"
    seconds = dict.fromkeys(SIZES, 0.01)
    for found, told in ((reached(1e6, 0.01), True), (reached(200.0), False)):
        assert isinstance(found.fit, BatchScaling)
        price = seconds if told else found.seconds
        soonest = found.fit.cheapest(lambda size, p=price: p[int(size)], [*map(float, SIZES)])  # type: ignore[misc]
        sentence = goal_finding(replace(found, soonest=soonest, end=end)).sentence
        assert (end in sentence) is told


def test_times_of_a_busy_machine_leave_it_unknown() -> None:
    finding = goal_finding(replace(reached(200.0, current=1024), busy=True))
    assert finding.verdict is Verdict.UNKNOWN
    assert "steps to the goal hold, training times may not" in finding.advice
    assert "Take a batch size of" not in finding.advice


def test_perfect_scaling_is_called_so() -> None:
    finding = goal_finding(reached(1e6, 0.01))
    assert "Only perfect scaling is seen" in finding.sentence
    assert "the critical batch size is above" in finding.sentence


def test_no_gain_is_called_so() -> None:
    assert "save next to no steps" in goal_finding(reached(0.01)).sentence


def test_a_best_rate_at_the_end_leaves_it_unknown() -> None:
    finding = goal_finding(reached(200.0, best=2))
    assert finding.verdict is Verdict.UNKNOWN
    assert "the best learning rate is the highest that was tried, 0.04" in finding.advice


def test_what_was_not_reached_is_said() -> None:
    missed = tuple(at_size(size, math.inf) for size in SIZES)
    fit = batch_scaling([16.0], [1.0], [math.inf])
    found = replace(reached(200.0), sizes=missed, fit=fit, soonest=None)
    finding = goal_finding(found)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence.startswith(
        "valid/error <= 0.1 was not reached at 16, 64, 256 and 1,024. No curve was fitted"
    )
    assert "easier goal" in finding.advice
    assert to_goal(found) == ()


def test_unknown_noise_has_its_line_of_code() -> None:
    assert "run.log({'grad_norm': norm}, step=step)" in goal_finding(reached(200.0)).advice


def test_a_schedule_that_may_decay_is_told() -> None:
    finding: Finding = goal_finding(replace(reached(200.0), decayed="cosine"))
    assert "The schedule cosine may decay" in finding.advice
