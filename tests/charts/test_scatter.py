"""Trials as points: the best few strong, crosses for the infeasible, none without a place."""

from __future__ import annotations

import numpy as np

from simulation import Plan, draw
from tunebook.charts.scatter import MOST_CROSSES, scatter, scatter_note
from tunebook.charts.selection import BEST_FEW
from tunebook.core.evidence import Evidence, Standing
from tunebook.diagnosis.gathering import gather


def evidence(**changes: object) -> Evidence:
    return gather(draw(Plan(**changes)))  # type: ignore[arg-type]


def test_every_trial_is_one_point_and_the_best_few_are_strong() -> None:
    seen = evidence(trials=20, cliff=0.7)
    made = scatter(seen, lambda reading: float(reading.number))
    drawn = np.concatenate([points.x for points in made])
    assert sorted(drawn) == list(range(1, 21))
    strong = [points for points in made if points.weight == "strong"]
    assert sorted(strong[0].x) == sorted(r.number for r in seen.ranked[:BEST_FEW])
    assert [points.name for points in made] == ["trials", "infeasible", f"best {BEST_FEW}"]


def test_infeasible_trials_are_crosses_at_the_bad_edge() -> None:
    seen = evidence(trials=20, cliff=0.7)
    crosses = [points for points in scatter(seen, lambda r: float(r.number)) if points.crosses]
    assert len(crosses) == 1
    assert set(crosses[0].x) == {r.number for r in seen.only(Standing.INFEASIBLE)}
    assert np.all(np.isposinf(crosses[0].y))


def test_settings_are_groups_with_their_names() -> None:
    made = scatter(evidence(trials=6, settings=2), lambda reading: float(reading.number))
    assert {points.name for points in made if points.name} == {"variant=0", "variant=1"}
    assert len({points.group for points in made}) == 2


def test_a_trial_without_a_place_is_left_out() -> None:
    assert scatter(evidence(trials=6), lambda _: np.nan) == ()


def test_what_is_not_drawn_is_said() -> None:
    many = evidence(trials=200, cliff=0.3)
    assert len(many.only(Standing.INFEASIBLE)) > MOST_CROSSES
    assert f"infeasible trials {MOST_CROSSES} are drawn, evenly." in scatter_note(many)
    assert scatter_note(evidence(trials=6)) == ""
