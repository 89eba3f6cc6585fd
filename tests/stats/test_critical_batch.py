"""Critical batch sizes: planted ones are found, what the data do not bound is left open."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunebook.stats.critical_batch import (
    BatchScaling,
    NoFit,
    Scaling,
    batch_scaling,
)

SIZES = 32 * 2.0 ** np.arange(6)


def steps(
    critical: float, sizes: np.ndarray = SIZES, seeds: int = 2, sd: float = 0.05, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Sizes and the steps at which runs reach a goal; the fewest are 1000."""
    b = np.repeat(sizes, seeds)
    noise = sd * np.random.default_rng(seed).standard_normal(len(b))
    return b, 1000.0 * (1.0 + critical / b) * np.exp(noise)


def fitted(
    critical: float, every: float = 0.0, budget: float = math.inf, **how: object
) -> BatchScaling:
    b, s = steps(critical, **how)  # type: ignore[arg-type]
    until = np.ceil(s / every) * every if every else s.copy()
    after = until - every
    missed = until > budget
    after[missed], until[missed] = budget, math.inf
    fit = batch_scaling(b, after, until)
    assert isinstance(fit, BatchScaling)
    return fit


def test_a_planted_critical_size_is_found_without_noise() -> None:
    fit = fitted(200.0, sd=0.0)
    assert fit.critical.estimate == pytest.approx(200.0, rel=0.02)
    assert fit.fewest_steps.estimate == pytest.approx(1000.0, rel=0.02)
    assert fit.scaling is Scaling.BOTH
    assert fit.sd < 0.01
    assert fit.misfit is not None and fit.misfit > 0.5


def test_an_interval_holds_the_truth() -> None:
    for fit in (fitted(200.0, seeds=1), fitted(200.0, seeds=8)):
        assert 200.0 in fit.critical
        assert 1000.0 in fit.fewest_steps
        assert 1000.0 * (1.0 + 200.0 / 4096) in fit.steps_at(4096)


def test_intervals_narrow_with_seeds() -> None:
    def width(seeds: int) -> float:
        fits = [fitted(200.0, seeds=seeds, seed=seed).critical for seed in range(8)]
        return float(np.median([fit.high / fit.low for fit in fits]))

    assert width(8) < width(2) < width(1)
    assert fitted(200.0, seeds=1).misfit is None


def test_perfect_scaling_bounds_the_critical_size_from_below_alone() -> None:
    fit = fitted(1e7)
    assert fit.scaling is Scaling.PERFECT
    assert math.isinf(fit.critical.high)
    assert SIZES[-1] < fit.critical.low < 1e7
    assert fit.fewest_steps.low == 0.0
    assert fit.perfect_until.high == math.inf


def test_no_scaling_bounds_the_critical_size_from_above_alone() -> None:
    fit = fitted(0.01)
    assert fit.scaling is Scaling.DIMINISHING
    assert fit.critical.low == 0.0
    assert fit.critical.high < SIZES[0]
    assert 1000.0 in fit.fewest_steps


def test_noise_that_hides_everything_is_said() -> None:
    fit = fitted(64.0, sizes=np.array([60.0, 64.0, 68.0]), seeds=1, sd=0.3)
    assert fit.scaling is Scaling.UNKNOWN


def test_evaluations_and_budgets_censor_without_bias() -> None:
    rough = fitted(200.0, every=500.0, budget=6000.0)
    assert 200.0 in rough.critical
    assert 1000.0 in rough.fewest_steps
    assert rough.observations == 12
    # A run that was not reached in many steps tells that steps are many.
    b, s = steps(200.0, sizes=SIZES[2:], seeds=1)
    without = batch_scaling(b, s, s)
    missed = batch_scaling([*b, 8.0], [*s, 24_000.0], [*s, math.inf])
    assert isinstance(without, BatchScaling) and isinstance(missed, BatchScaling)
    assert missed.critical.low > without.critical.low


def test_sizes_off_the_curve_widen_the_intervals() -> None:
    calm = 0
    for seed in range(10):
        b, s = steps(200.0, seeds=6, sd=0.02, seed=seed)
        clean = batch_scaling(b, s, s)
        assert isinstance(clean, BatchScaling) and clean.misfit is not None
        calm += clean.misfit > 0.05
        off = s * np.exp(np.where(np.log2(b) % 2 == 0, 0.2, -0.2))
        odd = batch_scaling(b, off, off)
        assert isinstance(odd, BatchScaling) and odd.misfit is not None
        assert odd.misfit < 1e-6
        assert odd.critical.high / odd.critical.low > 2 * clean.critical.high / clean.critical.low
    assert calm >= 8


@pytest.mark.parametrize("sizes", [[], [32.0, 64.0], [32.0, 32.0, 64.0]])
def test_fewer_than_three_sizes_are_refused(sizes: list[float]) -> None:
    fit = batch_scaling(sizes, [100.0] * len(sizes), [110.0] * len(sizes))
    assert isinstance(fit, NoFit)
    assert fit.reason == (f"the goal was reached at {len(set(sizes))} batch sizes; a curve needs 3")


def test_sizes_that_never_reach_the_goal_do_not_count() -> None:
    fit = batch_scaling([32, 64, 128], [100, 100, 100], [110, 110, math.inf])
    assert isinstance(fit, NoFit)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="got 2 sizes and 1 and 2 bounds"):
        batch_scaling([1, 2], [1], [1, 2])
    with pytest.raises(ValueError, match="must be above 0"):
        batch_scaling([0.0], [1], [2])
    with pytest.raises(ValueError, match="before it was missed"):
        batch_scaling([1.0], [3], [2])
    with pytest.raises(ValueError, match="needs candidates"):
        fitted(200.0).cheapest(float, [])


@settings(max_examples=15)
@given(st.floats(0.01, 100.0), st.floats(0.01, 100.0))
def test_units_of_steps_and_sizes_carry_over(steps_unit: float, size_unit: float) -> None:
    b, s = steps(200.0, seeds=1, sizes=SIZES[:4])
    one = batch_scaling(b, s, s)
    other = batch_scaling(b * size_unit, s * steps_unit, s * steps_unit)
    assert isinstance(one, BatchScaling) and isinstance(other, BatchScaling)
    assert other.critical.estimate == pytest.approx(one.critical.estimate * size_unit, rel=0.05)
    assert other.fewest_steps.estimate == pytest.approx(
        one.fewest_steps.estimate * steps_unit, rel=0.05
    )


def test_the_best_size_for_time_and_for_cost() -> None:
    fit = fitted(200.0, seeds=6, sd=0.02)
    sizes = [32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0]
    fewest = fit.cheapest(lambda size: size, sizes)
    assert fewest.size == 32.0
    assert fewest.totals[0] == pytest.approx(1000.0 * 232.0, rel=0.05)
    # A step takes the same time at any size: the largest is fastest.
    assert fit.cheapest(lambda size: 1.0, sizes).size == 2048.0
    affine = fit.cheapest(lambda size: 5.0 + 0.005 * size, sizes)
    assert affine.size == 512.0
    assert 512.0 in affine.possible
    totals = dict(zip(sizes, affine.totals, strict=True))
    assert totals[512.0] == pytest.approx(fit.steps_at(512.0).estimate * (5.0 + 2.56))


def test_an_open_interval_leaves_more_sizes_possible() -> None:
    fit = fitted(1e7)
    possible = fit.cheapest(lambda size: 1.0 + 0.001 * size, [1e3, 1e5, 1e9]).possible
    assert possible[-1] == 1e9


def test_where_scaling_is_perfect_and_where_it_ends() -> None:
    fit = fitted(200.0, sd=0.0)
    until, ends = fit.perfect_until.estimate, fit.no_gain_from.estimate
    assert until == pytest.approx(40.0, rel=0.02)
    assert ends == pytest.approx(1000.0, rel=0.02)
    # Doubling there: nearly half the steps, and hardly fewer.
    assert fit.steps_at(until).estimate / fit.steps_at(2 * until).estimate > 1.7
    assert fit.steps_at(ends).estimate / fit.steps_at(2 * ends).estimate < 1.1
