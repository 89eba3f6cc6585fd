"""Which curves rise after their minimum, and by how much."""

from __future__ import annotations

import numpy as np
import pytest

from small_studies import as_curve, falling
from tunebook.diagnosis.rises import clear, fall, screened, turned, without


def points(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    curve = as_curve(values)
    return curve.steps.astype(float), curve.values


RISING = falling() + 0.1 * np.clip(np.linspace(-1, 1, 60), 0, None)
CURVES = {1: points(falling()), 2: points(RISING), 3: points(np.ones(3))}


def test_a_rise_is_described_in_the_terms_of_its_curve() -> None:
    found = screened(CURVES, dict.fromkeys(CURVES, 0.01))
    assert set(found) == {1, 2}
    assert [curve.number for curve in clear(found)] == [2]
    risen = found[2]
    assert 280 <= risen.step <= 380
    assert risen.low == pytest.approx(0.1, abs=0.01)
    assert risen.end == pytest.approx(0.2, abs=0.01)
    assert turned(risen).end == -risen.end
    assert set(without(found, {2})) == {1}


def test_a_rise_below_the_least_of_interest_does_not_count() -> None:
    found = screened(CURVES, dict.fromkeys(CURVES, 0.5))
    assert found[2].p == 1.0
    assert clear(found) == []


def test_the_fall_of_a_curve_is_not_that_of_single_points() -> None:
    values = np.concatenate([np.full(20, 2.0), np.full(80, 1.0)])
    values[50] = -30.0
    assert fall(values) == pytest.approx(1.0)
    assert fall(np.empty(0)) == 0.0
