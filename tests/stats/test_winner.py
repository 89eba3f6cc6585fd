"""Winners: calm between equals, confident where one is better, indifferent to units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunebook.stats.winner import Contestant, contest, luck


def bowls(
    dimensions: tuple[int, ...], handicap: float = 0.0, n: int = 30, seed: int = 0
) -> list[Contestant]:
    random = np.random.default_rng(seed)
    points = random.random((n, max(dimensions)))
    found = []
    for place, d in enumerate(dimensions):
        losses = np.sum((points[:, :d] - 0.5) ** 2, axis=1) + 0.05 * random.standard_normal(n)
        found.append(Contestant(points[:, :d], losses + handicap * (place > 0)))
    return found


@pytest.mark.parametrize("dimensions", [(2, 4), (2, 2)])
def test_equal_optima_have_no_confident_winner(dimensions):
    named = sum(max(contest(bowls(dimensions, seed=s)).chances) >= 0.95 for s in range(8))
    assert named <= 2


def test_a_better_optimum_wins():
    for seed in range(3):
        result = contest(bowls((2, 4), handicap=0.4, seed=seed))
        assert result.leader == 0 and result.chances[0] >= 0.95


def test_a_narrow_hole_missed_in_more_dimensions_is_no_victory():
    for seed in range(3):
        random = np.random.default_rng(seed)
        points = random.random((30, 4))
        settings = []
        for d in (2, 4):
            depth = np.exp(-np.sum((points[:, :d] - 0.5) ** 2, axis=1) / 0.08)
            settings.append(Contestant(points[:, :d], 0.05 * random.standard_normal(30) - depth))
        result = contest(settings)
        assert max(result.chances) < 0.95


def test_more_dimensions_leave_more_to_gain():
    gains = np.array([contest(bowls((2, 5), seed=s)).remaining_gains for s in range(3)])
    assert gains[:, 1].mean() > gains[:, 0].mean()


@settings(max_examples=5, deadline=None)
@given(st.permutations(range(20)), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_order_shift_and_scale_leave_chances_alone(order, shift, scale):
    one = bowls((2, 3), handicap=0.05, n=20)
    rows = list(order)
    other = [
        Contestant(np.asarray(c.points)[rows], shift + scale * np.asarray(c.losses)[rows])
        for c in one
    ]
    before, after = contest(one), contest(other)
    assert after.chances == pytest.approx(before.chances, abs=0.03)
    assert np.array(after.remaining_gains) / scale == pytest.approx(before.remaining_gains, rel=0.1)
    assert after.lucks == pytest.approx(before.lucks)


def test_chances_of_several_settings_add_up_and_tell_the_last_one():
    result = contest([*bowls((2, 2)), *bowls((2,), seed=5), *bowls((1, 2), handicap=0.8)[1:]])
    assert sum(result.chances) == pytest.approx(1.0)
    assert result.chances[3] < 0.02
    assert result.lucks[result.leader] == 0.0


def test_a_single_setting_is_the_best():
    assert contest(bowls((2,))).chances == (1.0,)


def test_a_confident_winner_needs_more_than_luck():
    # Two lucky trials, no noise: the process is sure, ranks are not.
    points = np.linspace(0, 1, 20)[:, None]
    level = np.where(np.abs(points[:, 0] - 0.5) < 0.06, -0.5, 0.0)
    result = contest([Contestant(points, level), Contestant(points, np.zeros(20))])
    assert max(result.lucks) > 0.1
    assert max(result.chances) <= 0.9


def test_luck_counts_what_a_rival_missed_in_its_dimensions():
    losses = np.arange(20.0)
    leader = Contestant(np.zeros((20, 2)), losses)
    same = luck(leader, Contestant(np.zeros((20, 2)), losses + 4.5))
    higher = luck(leader, Contestant(np.zeros((20, 4)), losses + 4.5))
    lower = luck(leader, Contestant(np.zeros((20, 1)), losses + 4.5))
    assert same == lower == pytest.approx(0.75**20)
    # Half the square: the volume of the ball in four dimensions is pi**2 / 2, in two it is pi.
    assert higher == pytest.approx((1 - 0.25**2 / 2) ** 20)
    assert luck(leader, Contestant(np.zeros((20, 2)), losses - 1.0)) == 1.0


def test_infinite_losses_are_bad_and_no_fault():
    settings = bowls((2, 2), handicap=0.5)
    losses = np.array(settings[1].losses)
    losses[:5] = np.inf
    result = contest([settings[0], Contestant(settings[1].points, losses)])
    assert result.leader == 0 and np.all(np.isfinite(result.remaining_gains))
