"""Shares of variance with a known answer; tests that keep their level and find what is there."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.stats.gaussian_process import fit
from tunebook.stats.importance import anything_matters, importance, matters


def test_shares_of_an_additive_surface_are_those_of_its_terms():
    points = np.random.default_rng(0).random((80, 3))
    found = importance(fit(points, 2 * points[:, 0] + points[:, 1]))
    assert found.first == pytest.approx([0.8, 0.2, 0.0], abs=0.03)
    assert found.total == pytest.approx([0.8, 0.2, 0.0], abs=0.03)
    assert np.max(found.pairs) < 0.03


def test_a_product_is_an_interaction_of_its_two_parameters():
    points = np.random.default_rng(0).random((120, 3))
    found = importance(fit(points, (points[:, 0] - 0.5) * (points[:, 2] - 0.5)))
    assert np.max(found.first) < 0.05
    assert found.pairs[0, 2] == found.pairs[2, 0] == pytest.approx(1.0, abs=0.1)
    assert found.total[[0, 2]] == pytest.approx([1.0, 1.0], abs=0.1)


def test_effects_are_in_units_of_the_noise():
    random = np.random.default_rng(1)
    points = random.random((100, 2))
    values = points[:, 0] + 0.1 * random.standard_normal(100)
    strong, none = importance(fit(points, values)).effects
    assert strong.in_noise == pytest.approx(10.0, rel=0.3)
    assert none.in_noise < 2.0
    truth = strong.line - strong.line.mean()
    assert np.all(np.abs(strong.mean - truth) < 4 * strong.deviation + 0.01)


def test_the_line_of_a_category_is_its_codes():
    random = np.random.default_rng(2)
    codes = random.choice([1.0, 4.0, 9.0], 40)
    values = np.where(codes == 4.0, 1.0, 0.0) + 0.05 * random.standard_normal(40)
    points = np.column_stack([codes, random.random(40)])
    found = importance(fit(points, values, categories=[True, False]))
    assert found.effects[0].line.tolist() == [1.0, 4.0, 9.0]
    assert np.argmax(found.effects[0].mean) == 1
    assert found.first[0] > 0.9


def test_a_constant_surface_has_nothing_to_share():
    found = importance(fit(np.random.default_rng(0).random((10, 2)), np.ones(10)))
    assert found.first.tolist() == [0.0, 0.0] and found.total.tolist() == [0.0, 0.0]


def test_a_parameter_without_effect_is_seldom_said_to_matter():
    # 60 studies at 10%: more than 13 would happen to one honest test in a hundred.
    alarms = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        points = random.random((24, 3))
        values = 2 * points[:, 0] + 0.3 * random.standard_t(3, 24)
        alarms += matters(points, values, 1, permutations=99, seed=seed) <= 0.1
    assert alarms <= 13


@pytest.mark.parametrize(
    "surface",
    [
        lambda p: 2 * p[:, 1],
        lambda p: 4 * (p[:, 1] - 0.5) ** 2 + p[:, 0],
        lambda p: 8 * (p[:, 1] - 0.5) * (p[:, 0] - 0.5),
        lambda p: np.exp(5 * p[:, 1]) + 3 * p[:, 2],
    ],
)
def test_an_effect_alone_or_with_others_is_found(surface):
    random = np.random.default_rng(0)
    points = random.random((64, 3))
    values = surface(points) + 0.3 * random.standard_normal(64)
    assert matters(points, values, 1) < 0.02


def test_one_parameter_is_tested_without_others():
    random = np.random.default_rng(0)
    points = random.random((30, 1))
    assert matters(points, points[:, 0] + 0.2 * random.standard_normal(30), 0) < 0.01
    assert matters(points, random.standard_normal(30), 0) > 0.05


def test_the_effect_of_a_category_is_found():
    random = np.random.default_rng(0)
    points = np.column_stack([random.random(40), random.integers(0, 3, 40)])
    values = points[:, 0] + (points[:, 1] == 1) + 0.3 * random.standard_normal(40)
    assert matters(points, values, 1, categories=[False, True]) < 0.01


def test_a_constant_column_is_no_evidence():
    random = np.random.default_rng(0)
    points = np.column_stack([random.random(20), np.full(20, 0.5)])
    assert matters(points, random.random(20), 1) == 1.0


def test_pure_noise_is_seldom_said_to_matter():
    alarms = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        p = anything_matters(random.random((24, 4)), random.standard_cauchy(24), permutations=99)
        alarms += p <= 0.1
    assert alarms <= 24


def test_something_that_matters_is_found_among_many():
    random = np.random.default_rng(0)
    points = random.random((40, 6))
    assert anything_matters(points, points[:, 3] + 0.2 * random.standard_normal(40)) < 0.01
