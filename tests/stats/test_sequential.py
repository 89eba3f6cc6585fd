"""Looking at two samples as they grow: how often equals are said to differ."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.stats.samples import welch_p
from tunebook.stats.sequential import SIZES, looks_up_to, nominal_level, sizes_up_to


def first_below(level: float, sizes: tuple[int, ...], count: int, gain: float = 0.0) -> float:
    """The share of comparisons of which a p-value is at most `level` at some look."""
    rng, found = np.random.default_rng(77), 0
    for _ in range(count):
        first, second = rng.normal(size=(2, sizes[-1]))
        found += any(
            (welch_p(first[:size] - gain, second[:size]) or 0.0) <= level for size in sizes
        )
    return found / count


def test_the_level_of_each_look_is_the_one_that_is_known() -> None:
    """0.0164 of each of five looks makes 5%, by a simulation that is not ours."""
    assert nominal_level(SIZES, 0.05) == pytest.approx(0.0164, rel=0.04)


@pytest.mark.parametrize("level", [0.025, 0.05, 0.2])
def test_the_level_of_each_look_does_not_depend_on_the_draws(level: float) -> None:
    found = [nominal_level(SIZES, level, seed) for seed in range(3)]
    assert max(found) / min(found) < 1.06


def test_equals_are_said_to_differ_as_often_as_the_level_says() -> None:
    """By samples that are drawn value by value, and Welch's test of each; naively in 17.7%."""
    looks, count = looks_up_to(20, 0.05), 3000
    error = (0.05 * 0.95 / count) ** 0.5
    assert first_below(looks.level, looks.sizes, count) == pytest.approx(0.05, abs=4 * error)
    assert first_below(0.05, looks.sizes, 500) > 0.09


def test_what_differs_is_found() -> None:
    looks = looks_up_to(20, 0.05)
    assert first_below(looks.level, looks.sizes, 300, gain=1.5) > 0.95


def test_one_look_has_the_whole_level() -> None:
    assert looks_up_to(3, 0.025).level == 0.025
    assert looks_up_to(4, 0.025, least=5).sizes == (4,)
    # Nor is one more value worth a look of its own.
    assert looks_up_to(6, 0.025, least=5).sizes == (6,)


def test_more_looks_have_lower_levels() -> None:
    levels = [looks_up_to(most, 0.05).level for most in (5, 10, 20, 40)]
    assert levels == sorted(levels, reverse=True)
    assert len(set(levels)) == 4


@pytest.mark.parametrize("most", [6, 9, 13, 20, 22, 52, 100])
def test_whatever_the_most_little_is_lost_for_want_of_hope(most: int) -> None:
    """Of effects that would be found in eight or nine of ten comparisons."""
    looks, rng = looks_up_to(most, 0.025, 5), np.random.default_rng(4)
    gain = 4.4 / most**0.5
    found = {True: 0, False: 0}
    for _ in range(300):
        first, second = rng.normal(size=(2, most)) - [[gain], [0.0]]
        ps = [welch_p(first[:size], second[:size]) or 0.0 for size in looks.sizes]
        won = next((n for n, p in enumerate(ps) if p <= looks.level), len(ps))
        left = next(n for n, p in enumerate(ps) if looks.is_hopeless(looks.sizes[n], p))
        found[False] += won < len(ps)
        found[True] += won < len(ps) and won <= left
    assert found[False] > 0.7 * 300
    assert found[True] >= found[False] - 0.04 * 300


@pytest.mark.parametrize("most", [3, 4, 5, 7, 20, 21, 1000, 10**6])
def test_sizes_rise_to_the_most(most: int) -> None:
    sizes = sizes_up_to(most)
    assert list(sizes) == sorted(set(sizes))
    assert sizes[-1] == most


def test_hope_shrinks_with_what_is_left() -> None:
    looks = looks_up_to(20, 0.025)
    assert not looks.is_hopeless(5, 0.56)
    assert looks.is_hopeless(5, 0.57)
    assert looks.is_hopeless(12, 0.31)
    # No more are left.
    assert looks.is_hopeless(20, 0.02)


def test_a_sample_of_one_is_none() -> None:
    with pytest.raises(ValueError, match="need two values each at least, got 1"):
        looks_up_to(1, 0.05)
