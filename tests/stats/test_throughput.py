"""What a step costs, and where doubling the batch stops paying."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunebook.stats.step_times import StepTimes, step_times
from tunebook.stats.throughput import Doubling, affine_time, saturation

SIZES = tuple(16.0 * 2**i for i in range(7))


def measure(
    seconds: Callable[[float], float], noise: float = 0.05, seed: int = 0, drift: float = 0.01
) -> dict[float, StepTimes]:
    rng = np.random.default_rng(seed)
    found = {}
    for size in SIZES:
        shift = drift * rng.standard_normal()
        one = step_times(seconds(size) * np.exp(shift + noise * rng.standard_normal(40)))
        assert one is not None
        found[size] = one
    return found


def line(size: float) -> float:
    return 0.01 + 0.0001 * size


def full(size: float) -> float:
    """Full at 128: a step takes longer in proportion from there on."""
    return 0.02 * max(size / 128.0, 1.0)


def test_proportional_throughput_is_never_called_full() -> None:
    for seed in range(60):
        found = saturation(measure(lambda _: 0.1, noise=0.15, seed=seed))
        assert found.stops_at is None
        assert {gain.verdict for gain in found.gains} <= {Doubling.NEARLY_DOUBLE, Doubling.UNCLEAR}


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_a_full_device_is_found(noise: float) -> None:
    stops = [saturation(measure(full, noise, seed)).stops_at for seed in range(30)]
    assert sum(stop == 128.0 for stop in stops) >= 27
    gains = saturation(measure(full, noise)).gains
    assert [gain.verdict for gain in gains[:3]] == [Doubling.NEARLY_DOUBLE] * 3
    assert gains[4].per_doubling.high < 0.5
    assert 0.0 in gains[4].per_doubling


def test_slowing_comes_before_stopping() -> None:
    found = saturation(measure(line, 0.01))
    # 64 to 128 brings 1.49, 128 to 256 brings 1.28, 512 to 1024 only 1.09.
    slow = [gain.smaller for gain in found.gains if gain.verdict is Doubling.LESS]
    assert slow and slow[0] in (64.0, 128.0)
    assert found.stops_at in (None, 512.0)


def test_a_dip_is_no_end() -> None:
    dip = {**dict.fromkeys(SIZES, 0.1), 64.0: 0.19, 128.0: 0.19}
    found = saturation(measure(lambda size: dip[size], 0.01))
    assert [g.smaller for g in found.gains if g.verdict is not Doubling.NEARLY_DOUBLE] == [32.0]
    assert found.stops_at is None


def test_noise_makes_a_gain_unclear() -> None:
    gains = saturation(measure(line, noise=1.5)).gains
    assert Doubling.UNCLEAR in {gain.verdict for gain in gains}


def test_one_size_says_nothing() -> None:
    one = measure(line)
    assert saturation({16.0: one[16.0]}).gains == ()
    assert affine_time({16.0: one[16.0], 32.0: one[32.0]}) is None


def test_a_planted_line_is_found() -> None:
    held = 0
    for seed in range(60):
        found = affine_time(measure(line, seed=seed))
        assert found is not None
        assert found.fits
        held += 0.01 in found.fixed and 0.0001 in found.per_example
    assert held >= 51
    assert found.seconds(100.0) == pytest.approx(0.02, rel=0.05)
    assert found.throughput(100.0) == pytest.approx(5000.0, rel=0.05)


def test_a_kink_is_said() -> None:
    found = affine_time(measure(lambda size: line(size) * (1.6 if size >= 512 else 1.0)))
    assert found is not None
    assert not found.fits
    assert found.misfit < 0.01
    assert found.at in SIZES


def test_neither_part_of_a_step_is_below_nothing() -> None:
    flat = affine_time(measure(lambda _: 0.1))
    assert flat is not None
    assert flat.fixed.estimate == pytest.approx(0.1, rel=0.05)
    assert flat.per_example.low == 0.0
    steep = affine_time(measure(lambda size: 1e-6 * size**2))
    assert steep is not None
    assert steep.fixed.estimate == 0.0
    assert not steep.fits


@settings(max_examples=20)
@given(st.floats(1e-3, 1e3))
def test_the_unit_of_time_carries_over(unit: float) -> None:
    here, there = affine_time(measure(line)), affine_time(measure(lambda size: unit * line(size)))
    assert here is not None and there is not None
    assert there.fixed.estimate == pytest.approx(unit * here.fixed.estimate, rel=1e-6)
    assert there.misfit == pytest.approx(here.misfit, rel=1e-4)
