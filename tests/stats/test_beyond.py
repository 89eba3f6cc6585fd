"""What results promise beyond the best value: lines and bowls, and noise among which was chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.stats.beyond import gain_beyond, gain_beyond_p

AT = np.log(10.0 ** (np.arange(7) / 3.0))


@given(
    st.lists(st.floats(-10, 10), min_size=3, max_size=3),
    st.floats(0.1, 2.0),
    st.floats(2.0, 5.0),
)
def test_a_parabola_is_continued_exactly(
    weights: list[float], spacing: float, beyond: float
) -> None:
    def parabola(x: np.ndarray | float) -> np.ndarray | float:
        return weights[0] + weights[1] * x + weights[2] * x**2

    at = spacing * np.arange(4)
    found = gain_beyond(at, parabola(at), 3, spacing * (1 + beyond))
    expected = parabola(float(at[3])) - parabola(spacing * (1 + beyond))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def noisy(truth: np.ndarray, studies: int, sd: float = 1.0) -> np.ndarray:
    """The p-value in each of many studies with two replicates of each value."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(studies):
        each = truth[:, None] + sd * rng.normal(size=(len(truth), 2))
        error = float(np.sqrt(np.mean(each.var(axis=1, ddof=1)) / 2))
        at = AT[: len(truth)]
        means = each.mean(axis=1)
        twice = at[int(np.argmin(means))] + np.log(2.0)
        found.append(gain_beyond_p(at, means, error, len(truth), float(twice)))
    return np.array(found)


@pytest.mark.parametrize("values", [4, 5, 7])
def test_nothing_is_promised_by_noise(values: int) -> None:
    """The best of equals is low by luck: chosen so, it promises no more often than it says."""
    found = noisy(np.zeros(values), 300)
    assert np.mean(found <= 0.05) <= 0.08 and np.mean(found <= 0.2) <= 0.25


def test_a_bowl_promises_nothing_beyond_its_bottom() -> None:
    found = noisy(3.0 * (np.arange(5) - 4.0) ** 2, 200)
    assert np.mean(found <= 0.05) <= 0.02 and np.mean(found <= 0.2) <= 0.05


def test_a_steady_fall_promises_more() -> None:
    """Of ten standard deviations a value, two trials each; of twenty, nearly always."""
    assert np.mean(noisy(-10.0 * np.arange(5), 200) <= 0.2) >= 0.9
    assert np.mean(noisy(-20.0 * np.arange(5), 200) <= 0.05) >= 0.95


def test_without_noise_the_sign_decides() -> None:
    assert gain_beyond_p([0, 1, 2], [3.0, 2.0, 1.0], 0.0, 3, 3.0) == 0.0
    assert gain_beyond_p([0, 1, 2], [4.0, 1.0, 0.0], 0.0, 3, 3.0) == 1.0


def test_two_values_promise_nothing() -> None:
    assert gain_beyond_p([0, 1], [2.0, 1.0], 0.1, 3, 2.0) == 1.0
    assert gain_beyond_p([0, 1, 2], [2.0, 1.0, 3.0], 0.1, 3, 2.0) == 1.0
