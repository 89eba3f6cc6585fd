"""Every question has a name of its own, and every one is answered once."""

from __future__ import annotations

from simulation import Plan, draw
from tunebook.core.findings import Question
from tunebook.diagnosis import questions
from tunebook.diagnosis.diagnosing import diagnose

ASKED = [value for value in vars(questions).values() if isinstance(value, Question)]


def test_names_and_places_in_the_guide_are_their_own() -> None:
    assert len(ASKED) > 20
    assert len({question.key for question in ASKED}) == len(ASKED)
    assert all(question.anchor and question.text.endswith("?") for question in ASKED)


def test_every_question_is_answered_once() -> None:
    answered = [finding.question.key for finding in diagnose(draw(Plan(trials=2)))]
    assert sorted(answered) == sorted(question.key for question in ASKED)
