"""All questions together: every study is answered, and a healthy one is left in peace."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from hostile_evidence import DIVERGED, Ran, evidences
from hostile_evidence import evidence_of as spelt_out
from simulation import Plan, draw
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Question, Verdict
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.diagnosis import questions
from tunebook.diagnosis.diagnosing import ANSWERS, diagnose, examine

ASKED = [q for q in vars(questions).values() if isinstance(q, Question)]


def test_every_question_is_answered_once_and_the_worst_comes_first() -> None:
    findings = diagnose(draw(Plan(seed=1, trials=16, cliff=0.4)))
    assert Counter(f.question.key for f in findings) == Counter(q.key for q in ASKED)
    ranks = [f.verdict.rank for f in findings]
    assert ranks == sorted(ranks)
    assert findings[0].verdict is Verdict.PROBLEM


def test_answers_are_in_the_order_of_the_questions() -> None:
    results = draw(Plan(seed=1, trials=12, dimensions=2, evaluations=8))
    findings = diagnose(results)
    good = [f.question.key for f in findings if f.verdict is Verdict.GOOD]
    assert good == [q.key for q in ASKED if q.key in good]
    assert len(ANSWERS) == len(ASKED)


def test_a_healthy_study_is_calm() -> None:
    findings = diagnose(draw(Plan(seed=2, trials=32, dimensions=3)))
    assert {f.verdict for f in findings} == {Verdict.GOOD, Verdict.UNKNOWN}


def test_a_study_without_trials_is_unknown() -> None:
    study = draw(Plan(trials=1)).study
    for finding in diagnose(Results(study)):
        assert finding.verdict in (Verdict.UNKNOWN, Verdict.GOOD)
    answered = {f.question.key for f in diagnose(Results(study)) if f.verdict is Verdict.GOOD}
    assert answered <= {"one-question", "tuned-budget", "caveats", "fairness", "search-space"}


def test_running_trials_are_no_results() -> None:
    results = draw(Plan(seed=3, trials=12, dimensions=2))
    running = replace(
        results,
        trials=tuple(
            replace(record, attempts=(replace(record.attempts[0], outcome=None),))
            for record in results
        ),
    )
    by_key = {f.question.key: f for f in diagnose(running)}
    assert by_key["winner"].verdict is Verdict.UNKNOWN
    assert by_key["dimensions"].verdict is Verdict.UNKNOWN
    assert by_key["search-space"].verdict is Verdict.UNKNOWN


def test_another_objective_is_judged_without_running_anything_again() -> None:
    results = draw(Plan(seed=4, trials=12, dimensions=2))
    findings = diagnose(results, Objective(Metric("train/loss"), "last"))
    winner = next(f for f in findings if f.question is questions.WINNER)
    assert "has train/loss" in winner.sentence


@pytest.mark.filterwarnings("error")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(evidences())
def test_no_study_is_too_bad_to_be_answered(evidence: Evidence) -> None:
    numbers = {reading.number for reading in evidence.readings}
    for finding in examine(evidence):
        assert finding.sentence
        assert "nan" not in finding.sentence.lower().split()
        assert set(finding.trials) <= numbers
        if finding.verdict is not Verdict.GOOD:
            assert finding.advice, finding
        for claim in finding.claims:
            assert claim.p is None or 0 <= claim.p <= 1
        assert not any(np.isnan(value) for value in finding.numbers.values())


def test_where_no_trial_works_one_cause_is_said_and_nobody_is_sent_to_run_more() -> None:
    space = Space.of(scientific={"opt": ["adam", "sgd"]}, nuisance={"rate": Float(0, 1)})
    ran = [
        Ran({"rate": i / 12}, 2.0, outcome=DIVERGED, setting=space.settings()[i % 2])
        for i in range(12)
    ]
    said = examine(spelt_out(space, ran, trials=6))
    causes = {one.sentence for one in said if " result" in one.sentence}
    assert "No trial has a result." in causes
    assert not any(
        one.advice.startswith(("Run the study", "Run at least", "Wait", "Run every"))
        for one in said
    )
