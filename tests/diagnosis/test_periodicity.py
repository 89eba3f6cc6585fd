"""Rhythms of the validation metric."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import Plan, draw
from small_studies import evidence_of, falling
from tunebook.core.curves import Curve
from tunebook.core.findings import Verdict
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.periodicity import periodicity


def swinging(period: int, by: float, points: int = 120) -> np.ndarray:
    return np.asarray(falling(points) + by * np.sin(2 * np.pi * np.arange(points) / period))


@pytest.mark.parametrize("seed", range(3))
def test_healthy_studies_are_calm(seed: int) -> None:
    said = periodicity(gather(draw(Plan(seed=seed, rho=0.5))))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == "valid/error shows no rhythm in the best trials."


def test_a_rhythm_is_a_problem() -> None:
    said = periodicity(evidence_of([{"valid/error": swinging(8, 0.01)}]))
    assert said.verdict is Verdict.PROBLEM
    assert "with a period of about 80 steps (7" in said.sentence
    assert "Compare this with the length of an epoch" in said.advice
    assert said.numbers["period"] == pytest.approx(80, rel=0.05)


def test_the_planted_fault_is_found() -> None:
    said = periodicity(gather(draw(Plan(period=5, swing=0.01))))
    assert said.verdict is Verdict.PROBLEM


def test_a_rhythm_that_misleads_nobody_is_calm() -> None:
    curve = falling(120, noise=1e-6) + 1e-5 * np.sin(np.arange(120))
    assert periodicity(evidence_of([{"valid/error": curve}])).verdict is Verdict.GOOD


def test_irregular_or_few_points_are_named() -> None:
    steps = np.cumsum(np.tile([1, 5, 30], 40))
    irregular = periodicity(evidence_of([{"valid/error": Curve.of(steps, falling(120))}]))
    few = periodicity(evidence_of([{"valid/error": falling(30)}]))
    for said in (irregular, few):
        assert said.verdict is Verdict.UNKNOWN
        assert "24 points of valid/error at regular steps" in said.sentence
