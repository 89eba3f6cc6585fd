"""The gradient-noise scale from norms at several sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.curves import Curve
from tunebook.procedures.batch_size.noise_scale import mean_square, noise_scale

SIZES = (8.0, 32.0, 128.0, 512.0)


@given(st.floats(1e-3, 1e3), st.floats(2.0, 2e3))
def test_the_planted_scale_is_found(gradient: float, scale: float) -> None:
    found = noise_scale({size: gradient * (1 + scale / size) for size in SIZES})
    assert found is not None
    assert found.size == pytest.approx(scale, rel=1e-6)
    assert found.low == pytest.approx(found.high, rel=1e-6)


def test_noise_widens_what_is_left_open() -> None:
    rng = np.random.default_rng(0)
    squares = {size: (1 + 100 / size) * np.exp(0.1 * rng.normal()) for size in SIZES}
    found = noise_scale(squares)
    assert found is not None
    assert found.low < found.size < found.high
    assert 50 < found.size < 200


def test_norms_without_noise_or_gradient_say_nothing() -> None:
    assert noise_scale({8.0: 1.0, 512.0: 1.1}) is None
    assert noise_scale({8.0: 64.0, 512.0: 0.5}) is None
    assert noise_scale({8.0: 1.0}) is None
    assert noise_scale({8.0: 0.0, 16.0: 0.0}) is None


def test_norms_are_taken_before_a_place() -> None:
    norms = Curve.of(range(1, 11), [1] * 8 + [2, 30])
    assert mean_square(norms, until=9, share=0.1) == 4.0
    assert mean_square(norms, until=9, share=1.0) == pytest.approx(12 / 9)
    assert mean_square(None, until=9) is None
    assert mean_square(norms, until=0.5) is None
