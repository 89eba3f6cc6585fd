"""Healthy studies: drawn with seeds of their own, over all kinds."""

from __future__ import annotations

from alarms import CELLS, STUDIES, healthy, row
from simulation import FIRST_CALIBRATION_SEED

PLANS = [healthy(FIRST_CALIBRATION_SEED + i) for i in range(10 * len(CELLS))]


def test_every_kind_is_drawn_equally_often() -> None:
    assert STUDIES % len(CELLS) == 0
    kinds = [(plan.trials, plan.dimensions, plan.settings) for plan in PLANS]
    assert all(kinds.count(cell) == 10 for cell in CELLS)


def test_nothing_is_planted() -> None:
    for plan in PLANS:
        assert all(0.25 <= place <= 0.75 for place in plan.optimum.values())
        assert len(plan.optimum) == plan.dimensions
        assert plan.cliff is None or plan.cliff - plan.optimum["learning_rate"] >= 0.25
        assert not (plan.flat or plan.failures or plan.overfit or plan.spikes or plan.period)
    assert 0.3 < sum(plan.cliff is not None for plan in PLANS) / len(PLANS) < 0.7


def test_a_row_has_what_the_page_reads() -> None:
    plan = next(p for p in PLANS if (p.trials, p.dimensions, p.settings) == (16, 4, 1))
    said = row(plan)
    assert said["seed"] == plan.seed
    assert "dimensions" in [key for key, _, _ in said["alarms"]]
    assert said["tests"] > 5
