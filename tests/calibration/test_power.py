"""Power: sizes are given up early, health never."""

from __future__ import annotations

from planted import FAULTS
from power import FIRST_SEED, MISSES, STUDIES, is_found, tried
from simulation import FIRST_CALIBRATION_SEED

WARMUP = next(fault for fault in FAULTS if fault.question == "warmup")


def test_seeds_are_those_of_calibration() -> None:
    assert FIRST_SEED > FIRST_CALIBRATION_SEED


def test_health_is_looked_at_in_every_study() -> None:
    row = tried(WARMUP, 0, WARMUP.healthy, 16, 2)
    assert len(row["alarm"]) == STUDIES
    assert row["alone"] == 0
    assert not is_found(row)


def test_what_is_missed_is_given_up() -> None:
    assert len(tried(WARMUP, 0, 0.02, 16, 2)["alarm"]) == MISSES + 1


def test_a_large_fault_is_found() -> None:
    assert is_found(tried(WARMUP, 0, 0.12, 16, 2))
