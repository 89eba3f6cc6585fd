"""Holm's adjusted p-values."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tunebook.stats.multiplicity import holm

p_values = st.lists(st.floats(0.0, 1.0), max_size=12)


def rejected(raw: list[float], level: float) -> set[int]:
    """Holm's procedure as he wrote it: step down until one test fails."""
    found: set[int] = set()
    for place, index in enumerate(sorted(range(len(raw)), key=raw.__getitem__)):
        if raw[index] * (len(raw) - place) > level:
            break
        found.add(index)
    return found


@given(p_values, st.floats(0.0, 0.999))
def test_an_adjusted_value_is_the_level_at_which_the_procedure_rejects(
    raw: list[float], level: float
) -> None:
    adjusted = holm(raw)
    assert {i for i, p in enumerate(adjusted) if p <= level} == rejected(raw, level)


@given(p_values)
def test_adjusted_values_keep_the_order_and_are_no_smaller(raw: list[float]) -> None:
    adjusted = holm(raw)
    assert np.all(adjusted >= raw)
    assert np.all(adjusted <= 1.0)
    assert np.all(np.diff(adjusted[np.argsort(raw, kind="stable")]) >= 0.0)


def test_a_test_that_was_not_made_does_not_count() -> None:
    adjusted = holm([0.01, math.nan, 0.04])
    assert math.isnan(adjusted[1])
    assert adjusted[[0, 2]].tolist() == holm([0.01, 0.04]).tolist() == [0.02, 0.04]
    assert holm([]).shape == (0,)


def test_the_chance_of_any_false_alarm_is_kept() -> None:
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((2000, 1))
    z = math.sqrt(0.5) * (shared + rng.standard_normal((2000, 20)))
    p = 0.5 * np.vectorize(math.erfc)(z / math.sqrt(2.0))
    assert np.mean([holm(row).min() <= 0.05 for row in p]) < 0.06
    assert np.mean(p.min(axis=1) <= 0.05) > 0.3
