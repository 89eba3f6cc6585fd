"""Words that every form of a report shares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reported import UNKNOWN, by_hand, compared, records, study
from tunebook.core.findings import Finding, Verdict
from tunebook.core.objective import Constraint, Metric, Objective
from tunebook.core.results import Results
from tunebook.core.space import Derived, Parameter, Role
from tunebook.diagnosis import questions
from tunebook.diagnosis.gathering import gather
from tunebook.report import wording
from tunebook.report.making import Comparison, Report, assemble

RESULTS = records(study())


def of(results: Results) -> Report:
    return assemble(gather(results), ())


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (Objective(Metric("error")), "best error, lower is better"),
        (Objective(Metric("acc", "higher"), "last"), "last acc, higher is better"),
        (
            Objective(Metric("error"), "mean", 5, (Constraint("ms", at_most=30),)),
            "mean of the last 5 of error, lower is better, ms <= 30",
        ),
    ],
)
def test_objectives(objective: Objective, words: str) -> None:
    assert wording.objective(objective) == words


def test_how_far_a_study_is() -> None:
    assert wording.state(of(RESULTS)) == "8 trials ended: 7 complete, 1 infeasible"
    assert wording.tense(of(RESULTS)) == ""
    assert wording.state(of(Results(RESULTS.study))) == "no trials yet"
    short = of(Results(RESULTS.study, RESULTS.trials[:3]))
    assert wording.state(short) == "3 of 8 trials ended: 3 complete"
    assert wording.tense(short) == ("The study has not ended: more trials may change what follows.")
    first = RESULTS.trials[0]
    running = replace(first, attempts=(replace(first.attempts[0], outcome=None),))
    half = of(Results(RESULTS.study, (running,)))
    assert wording.state(half) == "0 of 8 trials ended: 1 running"
    assert wording.tense(half) == (
        "The study is running (1 trial now): this is how it stands, and more trials may change it."
    )


def test_trials_that_count_otherwise_than_they_ended_are_told() -> None:
    knobs = replace(RESULTS.study.knobs, chance=0.25)
    report = of(Results(replace(RESULTS.study, knobs=knobs), RESULTS.trials))
    assert wording.state(report) == (
        "8 trials ended: 7 complete, 1 infeasible; 3 of the complete count as infeasible"
    )


def test_the_absence_of_problems_is_said() -> None:
    assert wording.tally(by_hand()) == "1 problem, 1 to watch, 1 unknown, 2 good"
    assert wording.tally(of(RESULTS)) == "no problem"


def test_good_answers_are_told_and_good_checks_are_named() -> None:
    good = [f for f in by_hand().findings if f.verdict == "good"]
    caveats = Finding(questions.CAVEATS, Verdict.GOOD, "They hold for batch_size=128.")
    assert wording.good([*good, caveats]) == [
        "They hold for batch_size=128.",
        "Nothing wrong found with: baseline.",
    ]
    assert wording.good([]) == []


def test_who_wins_is_the_answer_where_that_is_asked_and_known() -> None:
    report = by_hand()
    assert wording.answer(report) == "model=cnn wins with a probability of 0.98."
    assert wording.answer(replace(report, arms=report.arms[:1])) == ""
    assert wording.answer(of(RESULTS)) == ""


def test_what_follows_from_other_parameters_does_not_distinguish_trials() -> None:
    report = by_hand()
    derived = report.study.space.edit(
        {"keep": Parameter("keep", Role.FIXED, Derived("1 - dropout"))}
    )
    row = replace(report.best[0], config={**report.best[0].config, "keep": 0.7})
    shown = replace(report, study=replace(report.study, space=derived))
    assert wording.searched(shown, row) == "dropout=0.295, learning_rate=0.06494, model=cnn"


def test_unknown_questions_with_the_same_remedy_are_told_together() -> None:
    other = replace(UNKNOWN, question=questions.PERIODICITY, sentence="Too few points.")
    alone = replace(UNKNOWN, question=questions.CLIPPING, advice="")
    report = assemble(gather(RESULTS), (UNKNOWN, other, alone))
    assert wording.unknown(report) == [
        ("trial variance, periodicity: No configuration ran twice.", "Run 5 seeds."),
        ("clipping: No configuration ran twice.", ""),
    ]


def test_what_to_do_next_is_the_advice_of_the_worst() -> None:
    assert wording.first_advice(by_hand()) == "Expand it: learning_rate: {log: [1e-4, 1.0]}."
    assert wording.first_advice(of(RESULTS)) == ""


def test_where_nothing_is_wrong_what_was_learnt_comes_before_what_was_not_recorded() -> None:
    recorded = replace(UNKNOWN, question=questions.CODE, advice="Record the code.")
    report = assemble(gather(RESULTS), (recorded, UNKNOWN))
    assert wording.first_advice(report) == UNKNOWN.advice == "Run 5 seeds."
    assert wording.first_advice(assemble(gather(RESULTS), (recorded,))) == "Record the code."


def test_two_studies_in_words() -> None:
    report = compared()
    assert report.comparison is not None
    assert wording.compared(report, report.comparison) == (
        "model has the better result: valid/error 0.16 (the best of 7 measured), against 0.2 (the "
        "best of 5 measured) in other. Whether the difference, 0.04, is more than luck, two best "
        "results cannot tell."
    )
    turned = replace(report.comparison.other, comparison=Comparison(report, ()))
    assert turned.comparison is not None
    assert wording.compared(turned, turned.comparison).startswith("model has the better result")
    assert wording.compared(report, Comparison(report, ())) == "Both reach valid/error 0.16."
    nothing = of(Results(study("empty")))
    assert wording.compared(report, Comparison(nothing, ())) == (
        "empty has no result yet under this objective."
    )


def test_the_verdicts_in_which_two_studies_differ() -> None:
    report = compared()
    assert report.comparison is not None
    assert wording.compared_rows(report, report.comparison.other) == [
        ("trials", "7 complete, 1 infeasible", "5 complete, 1 infeasible"),
        ("best", "0.16 at step 30", "0.2 at step 30"),
        ("search space", "✗ problem", "-"),
        ("spikes", "! watch", "-"),
        ("trial variance", "? unknown", "-"),
        ("winner", "✓ good", "-"),
    ]
