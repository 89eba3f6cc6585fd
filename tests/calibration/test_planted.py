"""Planted faults: each has a question that is asked, sizes in order, and health."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planted import FAULTS, Fault, by_claims, by_weight_decay, by_winner
from simulation import Plan
from tunebook.core.findings import Claim, Finding, Question, Verdict
from tunebook.core.results import Results
from tunebook.diagnosis import questions

KEYS = {q.key for q in vars(questions).values() if isinstance(q, Question)}
QUESTION = Question("key", "Is it so?", "key")


def named(fault: Fault) -> str:
    return f"{fault.question}: {fault.what}"


def told(results: Results) -> tuple[object, ...]:
    """All that a question can read of a study."""
    return results.study, [
        (record.status, [(name, *c.values.tolist()) for name, c in record.curves.items()])
        for record in results
    ]


def test_faults_are_told_apart() -> None:
    assert len({(fault.question, fault.what) for fault in FAULTS}) == len(FAULTS)
    assert {fault.question for fault in FAULTS} <= KEYS


@pytest.mark.parametrize("fault", FAULTS, ids=named)
def test_sizes_go_one_way_and_health_is_none_of_them(fault: Fault) -> None:
    assert fault.healthy not in fault.sizes
    assert list(fault.sizes) in (sorted(fault.sizes), sorted(fault.sizes, reverse=True))


@pytest.mark.parametrize("fault", FAULTS, ids=named)
def test_planting_changes_the_study_and_nothing_else(fault: Fault) -> None:
    plan = Plan(seed=7, trials=8, dimensions=2)
    healthy, planted = (fault.draw(plan, size) for size in (fault.healthy, fault.sizes[-1]))
    assert len(planted) >= 8
    assert len(planted) == len(healthy)
    assert told(planted) != told(healthy)
    points = [[r.trial.config["learning_rate"] for r in drawn] for drawn in (healthy, planted)]
    assert points[0] == points[1]


def test_a_fact_counts_as_sure_and_a_watch_is_no_problem() -> None:
    said = Finding(QUESTION, Verdict.GOOD, "", claims=(Claim("", Verdict.WATCH, 0.2),))
    assert by_claims(said) == (0.2, 1.0)
    fact = replace(said, claims=(*said.claims, Claim("", Verdict.PROBLEM)))
    assert by_claims(fact) == (0.0, 0.0)
    assert by_claims(replace(said, claims=())) == (1.0, 1.0)


def test_what_is_unknown_is_not_found() -> None:
    said = Finding(QUESTION, Verdict.UNKNOWN, "", claims=(Claim("", Verdict.UNKNOWN),))
    assert by_claims(said) == (1.0, 1.0)


def test_answers_are_read_from_their_sentences() -> None:
    won = Finding(QUESTION, Verdict.GOOD, "variant=1 wins with a probability of 97%.")
    assert by_winner(won)[0] == 0.0
    assert by_winner(replace(won, verdict=Verdict.UNKNOWN))[0] == 1.0
    alone = Finding(QUESTION, Verdict.GOOD, "learning_rate alone matters. No weight_decay.")
    both = replace(alone, sentence="learning_rate (60%) and weight_decay (30%) matter, by shares.")
    assert (by_weight_decay(alone)[0], by_weight_decay(both)[0]) == (1.0, 0.0)
