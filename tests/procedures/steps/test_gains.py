"""What trainings gain over others on the same seeds: paired results, and seeds that are lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tunebook.procedures.steps.gains import Gain, gain_of, lost

FOUR = {1: 0.3, 2: 0.5, 3: 0.4, 4: 0.2}


def without(*seeds: int) -> dict[int, float]:
    """Results that are better by 0.1, but for seeds that came to nothing."""
    return {seed: math.inf if seed in seeds else loss - 0.1 for seed, loss in FOUR.items()}


@pytest.mark.parametrize("seeds", [(), (1,), (1, 2)])
def test_seeds_that_both_have_are_compared(seeds: tuple[int, ...]) -> None:
    gain = gain_of(FOUR, without(*seeds))
    assert gain is not None and gain.mean == pytest.approx(0.1) and gain.is_above(2.0)
    back = gain_of(without(*seeds), FOUR)
    assert back is not None and back.mean == pytest.approx(-0.1)


def test_three_of_four_lost_may_be_luck_and_four_are_not() -> None:
    """By Fisher's exact test: 4 of 56 ways, and 1 of 70."""
    assert gain_of(FOUR, without(1, 2, 3)) is None
    assert gain_of(FOUR, without(1, 2, 3, 4)) == Gain(-math.inf, 0.0)
    assert gain_of(without(1, 2, 3, 4), FOUR) == Gain(math.inf, 0.0)
    assert gain_of(without(1, 2, 3, 4), without(1)) is None


def test_lost_on_both_sides_is_no_gain_and_too_few_seeds_tell_nothing() -> None:
    nothing = without(1, 2, 3, 4)
    assert gain_of(nothing, nothing) == Gain(0.0, 0.0) and lost(nothing) == 4
    assert gain_of(FOUR, {1: 0.1}) is None and gain_of({}, {}) is None
    assert gain_of({1: math.inf}, {1: math.inf}) is None


def test_losing_seeds_by_luck_seldom_decides() -> None:
    """Whatever the share that is lost on both sides, one time in twenty at most on each."""
    for share in (0.1, 0.5, 0.9):
        rng = np.random.default_rng(int(10 * share))
        gone = rng.random((1000, 2, 8)) < share
        found = [
            gain_of(*(dict(enumerate(np.where(side, math.inf, 0.0))) for side in pair))
            for pair in gone
        ]
        decided = [gain.mean for gain in found if gain is not None and math.isinf(gain.mean)]
        assert max(decided.count(math.inf), decided.count(-math.inf)) <= 50
