"""The report as a value."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from reported import FINDINGS, GOOD, MADE, PROBLEM, by_hand, figure, probed, records, reports, study
from tunebook.core.evidence import Standing
from tunebook.core.findings import Verdict
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.study import Sampling
from tunebook.diagnosis.gathering import gather
from tunebook.report import making
from tunebook.report.making import Report, assemble

RESULTS = records(study())


def test_findings_are_worst_first_and_otherwise_as_they_came() -> None:
    report = by_hand()
    assert [finding.verdict.value for finding in report.findings] == [
        *("problem", "watch", "unknown", "good", "good")
    ]
    assert report.with_verdict(Verdict.GOOD) == tuple(
        f for f in FINDINGS if f.verdict is Verdict.GOOD
    )
    assert {verdict.value: n for verdict, n in report.tally.items()} == {
        "problem": 1,
        "watch": 1,
        "unknown": 1,
        "good": 2,
    }


def test_the_facts_are_those_of_the_results() -> None:
    report = by_hand()
    assert report.outcomes == {"complete": 7, "infeasible": 1}
    assert [row.number for row in report.rows] == list(range(1, 9))
    assert [row.number for row in report.best] == [8, 7, 6, 4, 3, 2, 1]
    assert report.best[0].value == pytest.approx(0.16)
    assert (report.best[0].step, report.best[0].status) == (30, "complete")
    assert report.rows[4].standing is Standing.INFEASIBLE
    assert report.rows[4].why == "valid/error is NaN"
    assert [(str(arm.setting), arm.measured) for arm in report.arms] == [
        ("model=mlp", 3),
        ("model=cnn", 4),
    ]
    assert [arm.best.number for arm in report.arms if arm.best] == [7, 8]
    assert report.fixed == {"batch_size": 128}
    assert (report.planned, report.running, report.is_finished) == (8, 0, True)


def test_inherited_values_are_caveats_too() -> None:
    of = replace(study(), baseline=(("width", 64), ("batch_size", 32)))
    assert assemble(gather(records(of)), ()).fixed == {"width": 64, "batch_size": 128}


def test_a_study_on_its_way() -> None:
    first = RESULTS.trials[0]
    running = replace(first, attempts=(replace(first.attempts[0], outcome=None),))
    report = assemble(gather(Results(RESULTS.study, (running, *RESULTS.trials[1:]))), ())
    assert (report.running, report.is_finished) == (1, False)
    short = assemble(gather(Results(RESULTS.study, RESULTS.trials[:3])), ())
    assert (short.running, short.is_finished) == (0, False)
    assert not assemble(gather(Results(RESULTS.study)), ()).is_finished


def test_grids_and_lists_have_as_many_trials_as_points() -> None:
    of = replace(RESULTS.study, sampling=Sampling("grid"))
    report = assemble(gather(Results(of, RESULTS.trials)), ())
    assert (report.planned, report.is_finished) == (None, True)


def test_scripts_that_track_themselves_are_not_counted() -> None:
    tracked = replace(RESULTS.study, space=Space())
    report = assemble(gather(Results(tracked, RESULTS.trials)), ())
    assert (report.planned, report.is_finished) == (None, True)
    assert report.best[0].config["batch_size"] == 128


@given(reports())
def test_any_report_says_what_it_is(report: Report) -> None:
    assert sum(report.tally.values()) == len(report.findings)
    assert repr(report).startswith(f"Report({report.study.name}, ")
    assert len(report.rows) == sum(report.outcomes.values())


def test_a_report_shows_itself() -> None:
    report = by_hand()
    assert repr(report) == "Report(model, 1 problem, 1 watch, 1 unknown, 2 good)"
    assert str(report).startswith("model\n")
    assert report._repr_html_().startswith("<iframe ")


def test_making_one_asks_every_question_and_draws() -> None:
    report = making.make(RESULTS, made=MADE, version="1")
    assert {finding.question.key for finding in report.findings} >= {"baseline", "search-space"}
    assert {picture.key for picture in report.figures} >= {"axes", "curves", "best-so-far"}
    assert (report.made, report.version, report.comparison) == (MADE, "1", None)
    assert report.objective == RESULTS.study.objective


def test_another_objective_judges_the_same_trials_anew() -> None:
    knobs = replace(RESULTS.study.knobs, chance=0.9)
    results = Results(replace(RESULTS.study, knobs=knobs), RESULTS.trials)
    report = making.make(results, Objective(Metric("train/loss"), "last"))
    assert report.objective == Objective(Metric("train/loss"), "last")
    assert report.best[0].number == 1
    assert report.best[0].value == pytest.approx(0.5)
    # What chance means for the error says nothing of the loss.
    assert report.study.knobs.chance is None
    assert making.make(results, Objective(Metric("valid/error"), "last")).study.knobs.chance == 0.9


def test_two_studies_are_compared_under_one_objective() -> None:
    smaller = study("other", knobs=replace(RESULTS.study.knobs, learning_rate="learning_rate"))
    other = records(replace(smaller, seed=3), 6)
    report = making.make(RESULTS, Objective(Metric("train/loss"), "last"), against=other)
    assert report.comparison is not None
    assert report.comparison.other.objective == report.objective
    assert report.comparison.differences == ("~ seed: 0 -> 3",)
    assert report.comparison.other.figures == ()
    assert {picture.key for picture in report.comparison.figures} >= {"compare-curves"}


def test_nothing_has_run_yet() -> None:
    report = making.make(Results(RESULTS.study))
    assert (report.rows, report.best, report.figures) == ((), (), ())
    assert [finding for finding in report.findings if finding.verdict is Verdict.PROBLEM] == []


def test_pictures_and_findings_are_kept_as_given() -> None:
    picture = figure()
    report = assemble(gather(RESULTS), [GOOD, PROBLEM], [picture])
    assert report.figures == (picture,)
    assert report.findings == (PROBLEM, GOOD)


def test_answers_of_a_probe_are_raised_even_when_good() -> None:
    report = probed()
    assert report.is_of_probe
    assert [f.verdict for f in report.raised] == [Verdict.GOOD, Verdict.WATCH, Verdict.UNKNOWN]
    assert report.calm == report.unknown == ()
    assert report.name == "model.variance"
    study = by_hand()
    assert not study.is_of_probe
    assert {f.verdict for f in study.raised} == {Verdict.PROBLEM, Verdict.WATCH}
    assert {f.verdict for f in study.calm} == {Verdict.GOOD}
    assert {f.verdict for f in study.unknown} == {Verdict.UNKNOWN}
    assert study.name == study.study.name
