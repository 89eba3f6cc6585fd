"""Values that can be computed with."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tunebook.stats.arrays import usable


@given(st.lists(st.floats()))
def test_usable_values_have_finite_squares(values: list[float]) -> None:
    array = np.array(values, dtype=np.float64)
    kept = array[usable(array)]
    assert np.all(np.isfinite(kept**2))
    assert len(kept) >= np.count_nonzero(np.abs(array) < 1e99)
