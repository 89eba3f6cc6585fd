"""Which trials a picture shows, and what it says of each and of those it leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulation import Plan, draw
from tunebook.charts.selection import (
    bad_edge,
    best_text,
    groups,
    infeasible_text,
    left_out,
    shown,
    spread,
    tooltip,
    without_value,
)
from tunebook.core.evidence import Evidence, Standing
from tunebook.core.objective import Metric, Objective
from tunebook.diagnosis.gathering import gather


def evidence(**changes: object) -> Evidence:
    return gather(draw(Plan(**changes)))  # type: ignore[arg-type]


@given(st.lists(st.integers(), max_size=60), st.integers(2, 20))
def test_a_spread_keeps_the_order_and_both_ends(items: list[int], most: int) -> None:
    kept = spread(list(enumerate(items)), most)
    assert len(kept) == min(len(items), most)
    assert list(kept) == sorted(kept)
    if items:
        assert (kept[0][0], kept[-1][0]) == (0, len(items) - 1)


def test_the_best_few_are_always_shown() -> None:
    ranked = evidence(trials=40).ranked
    best, rest = shown(ranked, most=12, best=4)
    assert best == ranked[:4]
    assert len(rest) == 8
    assert left_out(12, 40, best=4) == (
        "12 of 40 trials are drawn: the best 4 and an even spread over the rest."
    )
    assert left_out(40, 40) == ""


def test_a_setting_has_one_group_in_every_figure() -> None:
    seen = evidence(trials=3, settings=3)
    assert list(groups(seen).values()) == [0, 1, 2]


def test_tooltips_name_the_trial_and_its_result_or_why_it_has_none() -> None:
    seen = evidence(trials=8, cliff=0.5, settings=2)
    good, bad = seen.ranked[0], seen.only(Standing.INFEASIBLE)[0]
    assert tooltip(seen, good).startswith(f"trial {good.number} (variant=")
    assert tooltip(seen, bad).endswith(": valid/error is NaN")
    alone = evidence(trials=2)
    assert "variant" not in tooltip(alone, alone.readings[0])


def test_infeasible_trials_are_counted_at_the_bad_edge() -> None:
    seen = evidence(trials=8, cliff=0.5)
    count = len(seen.only(Standing.INFEASIBLE))
    assert infeasible_text(seen) == f"{count} infeasible trials are crosses at the top."
    assert bad_edge(seen) == np.inf
    turned = replace(seen, objective=Objective(Metric("valid/error", "higher")))
    assert infeasible_text(turned).endswith("at the bottom.")
    assert bad_edge(turned) == -np.inf
    assert infeasible_text(evidence(trials=2)) == ""


def test_what_has_no_result_is_said() -> None:
    broken = evidence(trials=3, failures=1.0)
    assert without_value(broken) == "Not shown, for they have no result: 3 broken."
    assert best_text(broken) == "no trial"
    assert without_value(evidence(trials=2)) == ""
