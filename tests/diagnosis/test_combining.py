"""P-values of several trials as one: uniform where there is nothing, small where there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import combine_pvalues

from tunebook.diagnosis.combining import fisher, p_of_any, p_of_best

P_VALUES = st.lists(st.floats(1e-6, 1.0), max_size=8)


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=8))
def test_fisher_is_that_of_scipy(p: list[float]) -> None:
    assert fisher(p) == pytest.approx(float(combine_pvalues(p).pvalue), rel=1e-9, abs=1e-300)


@given(P_VALUES)
def test_they_stay_p_values(p: list[float]) -> None:
    assert 0.0 <= p_of_best(p) <= 1.0
    assert 0.0 <= p_of_any(p) <= 1.0


@pytest.mark.parametrize(("combined", "trials"), [(p_of_best, 3), (p_of_any, 30)])
def test_noise_is_not_called_more_often_than_promised(combined, trials: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    found = np.array([combined(rng.uniform(size=trials)) for _ in range(4000)])
    for level in (0.01, 0.05, 0.2):
        assert np.mean(found <= level) <= 1.25 * level


def test_a_zero_does_not_break_the_logarithm() -> None:
    assert fisher([0.0, 0.5]) < 1e-200
