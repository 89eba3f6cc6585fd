"""Numbers, trials and settings in words."""

from __future__ import annotations

import pytest

from simulation import Plan, draw
from small_studies import evidence_of
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.phrases import best_trial, numbered, of_setting, percent, shown, times


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-12345.6, "-12,346"), (1e20, "1e+20"), (9999.0, "9999")]
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(("share", "text"), [(0.0, "0%"), (1.0, "100%"), (0.0999, "10%")])
def test_shares_are_in_per_cent(share: float, text: str) -> None:
    assert percent(share) == text


def test_infinitely_many_times_is_a_lot() -> None:
    assert times(float("inf")) == "over 1,000 times"


def test_a_setting_is_named_only_beside_others() -> None:
    one = evidence_of([{"valid/error": [0.1]}])
    assert best_trial(one, one.arms[0], 1) == "the best trial (1)"
    two = gather(draw(Plan(settings=2, trials=2)))
    assert best_trial(two, two.arms[1], 4) == "the best trial (4) of variant=1"
    assert of_setting(two, two.arms[0]) == " of variant=0"


def test_many_trials_are_cut_short() -> None:
    assert numbered(list(range(1, 8)), most=2) == "trials 1, 2 and 5 more"
