"""Warmup: the rules of a twentieth and a tenth of the training."""

from __future__ import annotations

import pytest

from simulation import Plan, draw
from small_studies import evidence_of
from tunebook.core.domains import Value
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.study import Budget
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.warmup import warmup

KNOBS = Knobs(warmup_steps="warmup")
THOUSAND = Budget(1000)


def warmed(steps: Value, budget: Budget | None = THOUSAND) -> Evidence:
    return evidence_of(
        [{"valid/error": [0.3, 0.1]}], knobs=KNOBS, fixed={"warmup": steps}, budget=budget
    )


@pytest.mark.parametrize(("steps", "share"), [(0, 0.0), (50, 0.05), (0.03, 0.03)])
def test_a_short_warmup_is_good(steps: Value, share: float) -> None:
    said = warmup(warmed(steps))
    assert said.verdict is Verdict.GOOD
    assert said.numbers["share"] == share


def test_above_a_twentieth_the_budget_should_grow() -> None:
    said = warmup(warmed(80))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "The best trial (1) warms up for 8.0% of its training (80 of 1000 steps)."
    )
    assert "lengthen the training by as many steps" in said.advice


def test_above_a_tenth_it_is_too_long() -> None:
    said = warmup(warmed(300))
    assert said.verdict is Verdict.PROBLEM
    assert "30% of its training" in said.sentence
    assert "take the shortest warmup that is stable" in said.advice


def test_without_a_budget_what_was_logged_is_the_length() -> None:
    assert warmup(warmed(10, budget=None)).verdict is Verdict.PROBLEM
    assert warmup(warmed(1, budget=None)).verdict is Verdict.GOOD


def test_the_number_of_steps_may_be_a_parameter() -> None:
    said = warmup(
        evidence_of(
            [{"valid/error": [0.1]}],
            knobs=Knobs(warmup_steps="warmup", steps="steps"),
            fixed={"warmup": 80, "steps": 10_000},
            budget=Budget(100),
        )
    )
    assert said.verdict is Verdict.GOOD


def test_the_planted_fault_is_found_and_its_twin_is_calm() -> None:
    assert warmup(gather(draw(Plan(warmup=1000)))).verdict is Verdict.PROBLEM
    assert warmup(gather(draw(Plan(warmup=100)))).verdict is Verdict.GOOD


def test_what_is_missing_is_named() -> None:
    said = warmup(evidence_of([{"valid/error": [0.1]}], knobs=Knobs()))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == "Name it under knobs: warmup_steps (a fixed 0 where there is none)."
    nothing = warmup(evidence_of([], knobs=KNOBS, fixed={"warmup": 3}))
    assert nothing.verdict is Verdict.UNKNOWN
    assert nothing.sentence == "There is no result yet."
