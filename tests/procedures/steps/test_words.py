"""What is said of steps; the sentences themselves are tested with the probe."""

from __future__ import annotations

from dataclasses import replace

from simulated_probes import subject_of
from tunebook.core.edits import SetBudget, SetParameter
from tunebook.core.findings import Finding, Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.space import Fixed
from tunebook.procedures.steps.words import HISTOGRAM, edits, histogram, histogram_picture, retune

KNOBS = Knobs(learning_rate="lr")


def later(verdict: Verdict) -> Finding:
    return Finding(HISTOGRAM, verdict, "so it is")


def test_the_guess_lengthens_and_never_shortens() -> None:
    subject = subject_of({"lr": 0.1}, KNOBS, steps=100)
    (edit,) = edits(subject, 150, None)
    assert isinstance(edit, SetBudget) and edit.budget.amount == 150
    assert edits(subject, 50, None) == () == edits(subject, None, None)


def test_results_come_before_the_guess() -> None:
    subject = subject_of({"lr": 0.1}, KNOBS, steps=100)
    assert edits(subject, 500, later(Verdict.GOOD)) == ()
    (longer,) = edits(subject, 50, later(Verdict.WATCH))
    (shorter,) = edits(subject, 10, later(Verdict.PROBLEM))
    (unsure,) = edits(subject, 120, later(Verdict.UNKNOWN))
    found = [e.budget.amount for e in (longer, shorter, unsure) if isinstance(e, SetBudget)]
    assert found == [150, 25, 120]


def test_steps_may_be_a_parameter_and_need_not_be_steps() -> None:
    knobs = replace(KNOBS, steps="n")
    (edit,) = edits(subject_of({"lr": 0.1, "n": 100}, knobs), 150, None)
    assert isinstance(edit, SetParameter) and edit.source == Fixed(150)
    epochs = replace(knobs, steps_unit="epochs")
    assert edits(subject_of({"lr": 0.1, "n": 100}, epochs), 150, None) == ()


def test_what_is_planned_for_the_steps_is_tuned_again() -> None:
    assert retune(subject_of({"lr": 0.1, "decay_steps": 9}, KNOBS)) == ("lr", "decay_steps")


def test_without_results_there_is_no_histogram() -> None:
    subject = subject_of({"lr": 0.1}, KNOBS)
    assert histogram(subject) is None and histogram_picture(subject) == ()
