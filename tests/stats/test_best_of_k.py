"""The best of k trials: exact means and quantiles, and a band that holds for all k."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opda.nonparametric import EmpiricalDistribution

from tunebook.stats.best_of_k import (
    best_of_k,
    distribution_band,
    expected_best,
    quantile_band,
    quantile_best,
)

losses = st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=7)


@given(losses, st.data())
def test_they_are_those_of_all_subsets(values: list[float], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(values)))
    bests = [min(subset) for subset in itertools.combinations(values, k)]
    assert expected_best(values, [k])[0] == pytest.approx(np.mean(bests), abs=1e-9)
    median = quantile_best(values, [k])[0]
    assert median == np.quantile(bests, 0.5, method="inverted_cdf")


def test_the_mean_agrees_with_opda() -> None:
    y = np.random.default_rng(2).exponential(size=24)
    ks = np.arange(1, 25)
    theirs = EmpiricalDistribution(y).u_tuning_curve(ks, minimize=True)
    assert expected_best(y, ks) == pytest.approx(theirs)


def test_the_band_is_narrower_than_that_of_dvoretzky_kiefer_and_wolfowitz() -> None:
    y = np.random.default_rng(2).exponential(size=24)
    ks = np.arange(4, 13)
    lower, _, upper = EmpiricalDistribution.confidence_bands(y, 0.9, a=0.0, method="dkw")
    low, high = quantile_band(y, ks, confidence=0.9, floor=0.0)
    assert np.all(low >= upper.quantile_tuning_curve(ks, minimize=True))
    assert np.all(high <= lower.quantile_tuning_curve(ks, minimize=True))
    assert np.sum(high < lower.quantile_tuning_curve(ks, minimize=True)) > 5


def test_the_band_of_the_distribution_agrees_with_opda() -> None:
    # Losses that are their own ranks: a quantile then names an order statistic.
    y = np.arange(1.0, 31.0)
    lower, _, upper = EmpiricalDistribution.confidence_bands(
        y, 0.95, method="ld_equal_tailed", generator=np.random.default_rng(0)
    )
    low, high = distribution_band(30, 0.95)
    assert low == pytest.approx(lower.cdf(y), abs=2e-3)
    # Theirs jumps at an order statistic to the bound that holds up to the next.
    assert high[1:] == pytest.approx(upper.cdf(y)[:-1], abs=2e-3)


@pytest.mark.parametrize(("n", "confidence"), [(2, 0.95), (9, 0.8), (40, 0.95)])
def test_the_band_holds_as_often_as_it_says(n: int, confidence: float) -> None:
    low, high = distribution_band(n, confidence)
    uniform = np.sort(np.random.default_rng(n).random((20_000, n)), axis=1)
    held = np.mean(np.all((uniform >= low) & (uniform <= high), axis=1))
    assert held == pytest.approx(confidence, abs=0.008)


def test_the_band_holds_the_true_curve_for_all_k_at_once() -> None:
    rng = np.random.default_rng(3)
    ks = np.arange(1, 17)
    truth = -np.log1p(-(1.0 - 0.5 ** (1.0 / ks)))
    held = 0
    for _ in range(500):
        low, high = quantile_band(rng.exponential(size=32), ks, confidence=0.9, floor=0.0)
        held += bool(np.all((low <= truth) & (truth <= high)))
    assert held / 500 > 0.88


def test_the_mean_is_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(size=40)
    drawn = np.array([rng.choice(y, 5, replace=False).min() for _ in range(4000)])
    assert expected_best(y, [5])[0] == pytest.approx(drawn.mean(), abs=0.03)
    assert quantile_best(y, [5])[0] == pytest.approx(np.median(drawn), abs=0.06)


def test_infeasible_trials_rank_worst() -> None:
    y = [0.1, math.inf, 0.2, math.inf]
    assert expected_best(y, [1, 2, 3]).tolist()[:2] == [math.inf, math.inf]
    assert expected_best(y, [3])[0] == pytest.approx((0.1 * 3 + 0.2) / 4)
    assert quantile_best(y, [1, 2]).tolist() == [0.2, 0.1]
    low, high = quantile_band([*y, *([math.inf] * 30)], [1])
    assert high[0] == math.inf
    assert low[0] == math.inf


def test_what_the_sample_does_not_bound_is_infinite() -> None:
    low, high = quantile_band([1.0, 2.0, 3.0], [1, 50])
    assert low.tolist() == [-math.inf, -math.inf]
    assert quantile_band([1.0, 2.0, 3.0], [1, 50], floor=0.0)[0].tolist() == [0.0, 0.0]
    assert np.all(high[1] <= high[0])
    assert quantile_band([], [1])[1].tolist() == [math.inf]


def test_nan_is_left_out_and_too_few_trials_give_none() -> None:
    assert best_of_k([1.0, math.nan]) is None
    assert best_of_k([]) is None
    assert best_of_k([-math.inf, 1.0]) is None
    curve = best_of_k([4.0, 2.0, math.nan, 3.0, 1.0])
    assert curve is not None
    assert curve.trials == 4
    assert curve.ks.tolist() == [1, 2]
    assert curve.expected.tolist() == pytest.approx([2.5, 10 / 6])
    assert curve.quantile.tolist() == [2.0, 1.0]
    assert np.all(curve.low <= curve.quantile) and np.all(curve.quantile <= curve.high)


def test_k_beyond_the_trials_is_not_a_number_and_below_one_an_error() -> None:
    assert np.isnan(expected_best([1.0, 2.0], [3])).all()
    assert np.isnan(quantile_best([1.0, 2.0], [3])).all()
    assert np.isnan(quantile_best([], [1])).all()
    with pytest.raises(ValueError, match="k of at least 1, got 0"):
        expected_best([1.0, 2.0], [0])


def test_a_shared_band_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        distribution_band(5, 0.95)[0][0] = 0.5
