"""Means of samples, their errors and intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tunebook.stats.samples import (
    Interval,
    binomial_standard_error,
    bootstrap_difference,
    bootstrap_mean,
    detectable_difference,
    finite,
    mean_interval,
    median_absolute_deviation,
    paired_standard_error,
    pooled_sd,
    standard_error,
    welch_interval,
    welch_p,
)

samples = st.lists(st.floats(-100.0, 100.0), min_size=2, max_size=12)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@given(samples, samples)
def test_welch_agrees_with_scipy(first: list[float], second: list[float]) -> None:
    if np.ptp(first) < 1e-3 or np.ptp(second) < 1e-3:
        first, second = [*first, 101.0], [*second, 102.0]
    theirs = stats.ttest_ind(first, second, equal_var=False)
    ends = theirs.confidence_interval(0.9)
    ours = welch_interval(first, second, confidence=0.9)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((ends.low, ends.high))
    less = stats.ttest_ind(first, second, equal_var=False, alternative="less")
    assert welch_p(first, second) == pytest.approx(less.pvalue)


def test_a_margin_makes_a_claim_harder() -> None:
    first, second = [1.0, 1.1, 0.9], [2.0, 2.1, 1.9]
    plain, harder = welch_p(first, second), welch_p(first, second, margin=0.9)
    easier = welch_p(first, second, margin=-0.5)
    assert plain is not None and harder is not None and easier is not None
    assert easier < plain < harder < 0.5


def test_samples_without_spread_are_compared_as_they_are() -> None:
    assert welch_interval([1.0, 1.0], [2.0, 2.0]) == Interval(-1.0, -1.0, -1.0)
    assert welch_p([1.0, 1.0], [2.0, 2.0]) == 0.0
    assert welch_p([2.0, 2.0], [2.0, 2.0]) == 1.0


def test_an_interval_of_a_mean_agrees_with_scipy() -> None:
    x = [1.0, 2.0, 4.0, 8.0]
    ends = stats.t.interval(0.95, 3, loc=np.mean(x), scale=stats.sem(x))
    ours = mean_interval(x)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx(ends)
    assert standard_error(x) == pytest.approx(stats.sem(x))
    assert ours.estimate in ours and ours.high + 1.0 not in ours


@pytest.mark.parametrize("too_few", [[], [1.0], [1.0, math.nan, math.inf]])
def test_too_few_values_give_none(too_few: list[float]) -> None:
    enough = [1.0, 2.0]
    assert standard_error(too_few) is None
    assert mean_interval(too_few) is None
    assert bootstrap_mean(too_few) is None
    for test in (welch_interval, welch_p, bootstrap_difference):
        assert test(too_few, enough) is None
        assert test(enough, too_few) is None
    assert pooled_sd([too_few, too_few]) is None
    assert median_absolute_deviation([math.nan]) is None


def test_values_that_are_not_finite_are_left_out() -> None:
    assert finite([1.0, math.nan, -math.inf, 2.0]).tolist() == [1.0, 2.0]
    assert standard_error([1.0, math.inf, 3.0]) == standard_error([1.0, 3.0])


def test_a_share_has_a_binomial_error() -> None:
    assert binomial_standard_error(0.5, 100) == pytest.approx(0.05)
    assert binomial_standard_error(0.0, 100) == 0.0
    assert binomial_standard_error(1.5, 100) is None
    assert binomial_standard_error(0.5, 0) is None


def test_bootstrap_intervals_hold_what_they_say(rng: np.random.Generator) -> None:
    means = [bootstrap_mean(rng.exponential(size=40), 0.9, draws=400) for _ in range(200)]
    assert 0.82 <= np.mean([m is not None and 1.0 in m for m in means]) <= 0.95
    gaps = [
        bootstrap_difference(
            rng.normal(3.0, 1.0, 30), rng.normal(1.0, 2.0, 40), 0.9, draws=400, seed=n
        )
        for n in range(200)
    ]
    assert 0.83 <= np.mean([g is not None and 2.0 in g for g in gaps]) <= 0.96


def test_a_seed_gives_one_bootstrap() -> None:
    x = [1.0, 2.0, 4.0]
    assert bootstrap_mean(x, seed=1) == bootstrap_mean(x, seed=1)
    assert bootstrap_mean(x, seed=1, draws=50) != bootstrap_mean(x, seed=2, draws=50)


def test_pairing_removes_what_the_examples_share(rng: np.random.Generator) -> None:
    hard = rng.normal(0.0, 5.0, 400)
    first, second = hard + rng.normal(0, 1, 400), hard + rng.normal(0, 1, 400)
    paired = paired_standard_error(first, second)
    assert paired == pytest.approx(math.sqrt(2.0 / 400), rel=0.15)
    assert paired_standard_error([1.0, math.nan, 3.0], [0.0, 1.0, 1.0]) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="one length, got 2 and 1"):
        paired_standard_error([1.0, 2.0], [1.0])


def test_a_detectable_difference_is_detected_as_often_as_said(rng: np.random.Generator) -> None:
    difference = detectable_difference(sd=2.0, n=8, power=0.8)
    assert difference is not None
    a, b = rng.normal(0.0, 2.0, (4000, 8)), rng.normal(difference, 2.0, (4000, 8))
    found = np.mean(stats.ttest_ind(a, b, axis=1).pvalue < 0.05)
    assert found == pytest.approx(0.8, abs=0.025)
    assert detectable_difference(sd=1.0, n=1) is None
    assert detectable_difference(sd=math.nan, n=5) is None
    one_sided = detectable_difference(sd=2.0, n=8, sides=1)
    assert one_sided is not None and one_sided < difference


def test_a_pooled_sd_has_an_interval_that_holds(rng: np.random.Generator) -> None:
    held = 0
    for _ in range(400):
        groups = [rng.normal(centre, 3.0, size) for centre, size in ((0, 3), (50, 4), (9, 2))]
        pooled = pooled_sd(groups)
        assert pooled is not None and pooled.freedom == 6
        held += pooled.low <= 3.0 <= pooled.high
    assert 0.92 <= held / 400 <= 0.98


def test_the_median_absolute_deviation_is_the_sd_of_a_normal(rng: np.random.Generator) -> None:
    x = rng.normal(1.0, 2.0, 20_000)
    x[:1000] = 1e9
    assert median_absolute_deviation(x) == pytest.approx(2.1, abs=0.15)
