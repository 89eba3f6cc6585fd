"""Components of variance, and seeds that a difference needs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from tunebook.stats.samples import Interval, PooledSd
from tunebook.stats.variance import (
    are_equal,
    sd_within,
    seeds_needed,
    smallest_difference,
    variance_components,
)


def known(sd: float) -> PooledSd:
    return PooledSd(sd, sd, sd, 1000)


def runs(n: int, seed: int, **sds: float) -> dict[str, np.ndarray]:
    """Runs in which one source was varied, on top of a residual of 1."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0.0, math.hypot(sd, 1.0), n) for name, sd in sds.items()}


def test_each_source_has_its_variance() -> None:
    held: Counter[str] = Counter()
    for seed in range(100):
        drawn = runs(8, seed, init=2.0, order=1.0, same=0.0)
        alone = {"init": drawn["init"], "order": drawn["order"]}
        found = variance_components(alone, [drawn["same"]])
        assert found.residual is not None
        held["init"] += 4.0 in found.sources["init"].variance and 2.0 in found.sources["init"].sd
        held["order"] += 1.0 in found.sources["order"].variance
        held["residual"] += 1.0 in found.residual.variance
        assert found.residual.runs == 8
    assert min(held.values()) >= 89


def test_a_source_that_adds_nothing_may_be_zero() -> None:
    lows = []
    for seed in range(100):
        drawn = runs(6, seed, init=0.0, same=0.0)
        found = variance_components({"init": drawn["init"]}, [drawn["same"]])
        lows.append(found.sources["init"].variance.low)
        assert found.sources["init"].variance.estimate >= 0.0
    assert np.mean(np.array(lows) > 0.0) <= 0.06


def test_without_equal_runs_a_source_holds_the_residual() -> None:
    found = variance_components({"init": [1.0, 3.0], "split": [1.0]})
    assert found.sources["init"].variance.estimate == pytest.approx(2.0)
    assert "split" not in found.sources
    assert found.residual is None


def test_runs_that_repeat_exactly_leave_no_residual() -> None:
    found = variance_components({"init": [1.0, 2.0, 3.0]}, [[5.0, 5.0, 5.0]])
    assert found.residual is not None and found.residual.variance.high == 0.0
    assert found.sources["init"].variance.estimate == pytest.approx(1.0)


def test_equal_values_have_no_scatter_of_rounding() -> None:
    equal = [0.3] * 9 + [0.1 + 0.2]
    sd = sd_within([equal])
    assert sd == PooledSd(0.0, 0.0, 0.0, 9)
    found = variance_components({"split": equal, "init": [1.0, 2.0]}, [[0.3, 0.1 + 0.2]])
    assert found.residual is not None and found.residual.variance == Interval(0.0, 0.0, 0.0)
    assert found.sources["split"].variance == Interval(0.0, 0.0, 0.0)
    # Small is not equal.
    assert not are_equal([1e-15, 2e-15])
    assert are_equal([0.0, 0.0]) and are_equal([])


def test_pairs_of_equal_runs_scatter_about_their_own_means() -> None:
    """Also where all differ by as much: a difference between two equal runs has mean 0."""
    found = variance_components({}, [[1.0, 1.2], [5.0, 5.2], [9.0, 9.2]]).residual
    assert found is not None
    assert found.sd.estimate == pytest.approx(0.2 / math.sqrt(2))
    assert found.runs == 6


@pytest.mark.parametrize("effect", [3.0, 1.5, 0.8])
def test_the_seeds_that_are_needed_give_the_power(effect: float) -> None:
    need = seeds_needed(known(1.0), effect)
    assert need is not None and need.seeds is not None
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.0, 1.0, (2, 4000, need.seeds))
    found = np.mean(ttest_ind(b + effect, a, axis=1, alternative="greater").pvalue <= 0.05)
    assert 0.78 <= found <= 0.93
    rough = 2.0 * (1.645 + 0.842) ** 2 / effect**2
    assert rough <= need.seeds <= rough + 3.0


def test_an_uncertain_sd_gives_a_range_of_seeds() -> None:
    need = seeds_needed(PooledSd(1.0, 0.6, 2.5, 4), 1.0)
    assert need is not None
    assert need.low is not None and need.seeds is not None and need.high is not None
    assert need.low < need.seeds < need.high


def test_what_no_seeds_show() -> None:
    assert seeds_needed(known(1.0), 0.0) is None
    tiny = seeds_needed(known(1.0), 1e-6)
    assert tiny is not None and tiny.seeds is None
    none = seeds_needed(known(0.0), 1e-6)
    assert none is not None and none.seeds == 2
    assert smallest_difference(known(1.0), 1) is None
    huge = seeds_needed(known(1e-9), 1.0)
    assert huge is not None and huge.seeds == 2


@given(st.integers(2, 300), st.floats(0.01, 10.0))
def test_seeds_and_differences_are_inverse(seeds: int, sd: float) -> None:
    found = smallest_difference(known(sd), seeds)
    assert found is not None
    need = seeds_needed(known(sd), 1.0001 * found.estimate)
    assert need is not None and need.seeds is not None
    assert need.seeds in (seeds, seeds - 1)
