"""The optimum beyond an edge: calm inside, sure of a trend, mirrored alike."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.stats.edges import probability_beyond
from tunebook.stats.gaussian_process import GaussianProcess, fit


def bowl(centre: float, d: int = 2, seed: int = 0, mirrored: bool = False) -> GaussianProcess:
    random = np.random.default_rng(seed)
    points = random.random((32, d))
    losses = (points[:, 0] - centre) ** 2 + np.sum((points[:, 1:] - 0.5) ** 2, axis=1)
    losses += 0.03 * random.standard_normal(32)
    if mirrored:
        points[:, 0] = 1.0 - points[:, 0]
    return fit(points, losses)


@pytest.mark.parametrize("centre", [0.4, 0.75])
def test_an_interior_optimum_is_calm(centre):
    for seed in range(3):
        assert probability_beyond(bowl(centre, seed=seed), 0, 1.0, upper=True) < 0.8


def test_a_trend_towards_the_edge_is_seen_there_and_not_at_the_other_side():
    process = bowl(2.0, d=3)
    assert probability_beyond(process, 0, 1.0, upper=True) > 0.8
    assert probability_beyond(process, 0, 0.0, upper=False) < 0.05


def test_a_trend_to_the_lower_edge_is_the_mirror_image():
    upper = probability_beyond(bowl(1.1), 0, 1.0, upper=True)
    lower = probability_beyond(bowl(1.1, mirrored=True), 0, 0.0, upper=False)
    assert lower == pytest.approx(upper, abs=0.15)


def test_a_parameter_without_effect_raises_no_alarm():
    random = np.random.default_rng(0)
    for _ in range(3):
        points = random.random((32, 2))
        process = fit(points, (points[:, 1] - 0.5) ** 2 + 0.05 * random.standard_normal(32))
        assert probability_beyond(process, 0, 1.0, upper=True) < 0.8


def test_the_edge_is_where_the_caller_says():
    random = np.random.default_rng(1)
    points = 0.5 * random.random((32, 1))
    process = fit(points, (points[:, 0] - 1.0) ** 2 + 0.01 * random.standard_normal(32))
    assert probability_beyond(process, 0, 0.5, upper=True) > 0.8


def test_a_category_has_no_edge():
    process = fit(np.array([[0.0], [1.0], [1.0]]), [0.0, 1.0, 1.1], categories=[True])
    with pytest.raises(ValueError, match="dimension 0 is a category"):
        probability_beyond(process, 0, 1.0, upper=True)
