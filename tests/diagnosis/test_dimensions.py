"""Trials against searched parameters."""

from __future__ import annotations

import pytest

from hostile_evidence import Ran, evidence_of
from simulation import NAMES, Plan, draw
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.space import Space
from tunebook.diagnosis.dimensions import TRIALS_FOR_EACH, dimensions
from tunebook.diagnosis.gathering import gather


def tried(ended: int, searched: int, planned: int) -> Evidence:
    names = NAMES[:searched]
    space = Space.of(nuisance={name: Float(0, 1) for name in names})
    ran = [Ran(dict.fromkeys(names, i / 100), 0.2) for i in range(ended)]
    return evidence_of(space, ran, trials=planned)


@pytest.mark.parametrize(
    ("ended", "searched", "verdict"),
    [
        (20, 4, Verdict.GOOD),
        (19, 4, Verdict.WATCH),
        (8, 4, Verdict.WATCH),
        (7, 4, Verdict.PROBLEM),
        (5, 1, Verdict.GOOD),
        (1, 1, Verdict.PROBLEM),
    ],
)
def test_trials_for_each_parameter(ended: int, searched: int, verdict: Verdict) -> None:
    assert dimensions(tried(ended, searched, ended)).verdict is verdict


def test_what_to_do_is_said_with_numbers() -> None:
    said = dimensions(tried(12, 4, 12))
    assert said.sentence == (
        f"12 trials for 4 searched parameters: 3.0 for each, where {TRIALS_FOR_EACH} see a range "
        "at all."
    )
    assert said.advice == "Run 8 more trials, or search only the 2 that matter most."


def test_an_unfinished_study_with_a_sufficient_plan_is_unknown() -> None:
    said = dimensions(tried(6, 4, 30))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence == "6 of 30 trials have ended; 4 searched parameters ask for 20."
    assert dimensions(tried(2, 1, 30)).sentence.endswith("; 1 searched parameter asks for 5.")


def test_settings_are_counted_apart() -> None:
    said = dimensions(gather(draw(Plan(trials=12, settings=2, dimensions=4, evaluations=8))))
    assert said.verdict is Verdict.WATCH
    assert said.sentence.startswith("12 trials for 4 searched parameters in variant=0")
    assert said.sentence.endswith("The same holds for variant=1.")


def test_nothing_searched_needs_no_trials() -> None:
    assert dimensions(tried(3, 0, 3)).sentence == "No parameter is searched."


def test_no_trial_is_unknown() -> None:
    assert dimensions(tried(0, 2, 10)).verdict is Verdict.UNKNOWN
