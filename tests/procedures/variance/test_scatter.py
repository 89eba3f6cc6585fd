"""Results of equal runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tunebook.procedures.variance.scatter import Scatter


def test_the_whole_and_its_parts() -> None:
    rng = np.random.default_rng(0)
    inits, orders = 2.0 * rng.normal(size=4000), rng.normal(size=4000)
    scatter = Scatter.of(
        inits + orders, {"seed_init": inits, "seed_data": orders}, [(1.0, 1.0), (2.0, 2.0)]
    )
    assert scatter.total.sd == pytest.approx(math.sqrt(5), rel=0.05)
    sources = scatter.components.sources
    assert sources["seed_init"].sd.estimate == pytest.approx(2.0, rel=0.05)
    assert sources["seed_data"].sd.estimate == pytest.approx(1.0, rel=0.05)
    assert set(sources) == {"seed_init", "seed_data"}
    assert scatter.is_repeatable is True


def test_what_equal_seeds_scatter_is_taken_off() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(3, 2000))
    pairs = list(zip(noise[0], noise[1], strict=True))
    scatter = Scatter.of(noise[2], {"seed_init": rng.normal(size=2000)}, pairs)
    assert scatter.is_repeatable is False
    residual = scatter.components.residual
    assert residual is not None
    assert residual.sd.estimate == pytest.approx(1.0, rel=0.1)
    assert scatter.components.sources["seed_init"].sd.estimate < 0.3


def test_what_is_rounding_is_no_scatter() -> None:
    dusty = [0.1 + 0.2] + [0.3] * 9
    pairs = [(0.3, 0.1 + 0.2), (0.5, 0.5)]
    scatter = Scatter.of([0.3, 0.4], {"seed_init": [0.3, 0.5], "seed_split": dusty}, pairs)
    assert scatter.is_repeatable is True
    assert scatter.idle == ("seed_split",)
    assert scatter.components.sources["seed_split"].sd.high == 0.0
    equal = Scatter.of(dusty, {"seed_split": dusty})
    assert equal.total.sd == equal.total.high == 0.0
    # Where no seed changes anything, that one does not is no news.
    assert equal.idle == ()


def test_pairs_that_differ_alike_differ() -> None:
    scatter = Scatter.of([0.3, 0.4], {}, [(0.5, 0.75), (0.25, 0.5)])
    residual = scatter.components.residual
    assert scatter.is_repeatable is False
    assert residual is not None
    assert residual.sd.estimate == pytest.approx(0.25 / math.sqrt(2))


def test_without_pairs_nothing_is_said_of_equal_seeds() -> None:
    scatter = Scatter.of([1.0, 2.0], {})
    assert scatter.is_repeatable is None
    assert scatter.components.residual is None


def test_one_result_is_no_scatter() -> None:
    with pytest.raises(ValueError, match="two results, got 1"):
        Scatter.of([1.0], {})
