"""What a terminal of 80 columns shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from coordination import COMPLETE, FAILED, small_study
from shown import check_screen, results, screen
from tunebook.app import describe, tables
from tunebook.core.curves import Curve
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.study import Asked
from tunebook.core.trials import NO_CODE, Code, FromSequence, Outcome, Trial

STUDY = small_study(goal="Is b better?", note="first try", file="small.yaml")
SETTINGS = STUDY.space.settings()


def record(number: int, outcome: Outcome, error: float = 0.5, code: Code = NO_CODE) -> TrialRecord:
    setting = SETTINGS[(number - 1) % 2]
    config = {**setting.config, "x": 0.123456}
    return TrialRecord(
        Trial("small", number, setting, config, 7, FromSequence(number), code),
        (AttemptRecord(1, "token", "folder", code, outcome, 75.0),),
        {"error": Curve.of([10, 20], [1.0, error])} if outcome is COMPLETE else {},
    )


RESULTS = Results(STUDY, (record(1, COMPLETE), record(2, COMPLETE, 0.25), record(3, FAILED)))


@given(results())
def test_any_study_fits(found: Results) -> None:
    check_screen(screen(tables.study(describe.study(found))))
    check_screen(screen(tables.study(describe.study(found), most=1)))
    check_screen(screen(tables.sheet(describe.sheet([found], Path(".tunebook")))))


@given(results(least=1))
def test_any_trial_fits(found: Results) -> None:
    check_screen(screen(tables.trial(describe.trial(found, found.trials[0]))))
    check_screen(screen(tables.comparison(describe.comparison([(found, r) for r in found]))))


def test_a_study() -> None:
    assert screen(tables.study(describe.study(RESULTS))) == [
        "small",
        "Is b better?",
        "error, lower is better",
        "",
        "setting  trials  outcomes              best  step  trial",
        "arm=a    2       1 complete, 1 failed  0.5   20    1",
        "arm=b    1       1 complete            0.25  20    2",
        "",
        "Best trials",
        "trial  value  step  parameters",
        "    2   0.25    20  arm=b, x=0.1235",
        "    1    0.5    20  arm=a, x=0.1235",
        "",
        "Trials without a result",
        "trial  outcome  reason",
        "    3  failed   ValueError: no",
    ]


def test_of_many_settings_the_best_are_shown() -> None:
    lines = screen(tables.study(describe.study(RESULTS), most=1))
    assert lines[5:7] == ["arm=b    1       1 complete  0.25  20    2", "and 1 more setting"]


@pytest.mark.parametrize(("better", "first"), [("lower", "arm=b"), ("higher", "arm=a")])
def test_the_best_settings_are_those_the_objective_likes(better: str, first: str) -> None:
    data = describe.study(RESULTS)
    data["objective"]["better"] = better
    assert screen(tables.study(data, most=1))[5].startswith(first)


def test_a_trial() -> None:
    record_ = TrialRecord(
        RESULTS[2].trial,
        (
            AttemptRecord(1, "t", "f", outcome=Outcome(FAILED.kind, "broken"), seconds=2.0),
            AttemptRecord(2, "t", "f", outcome=COMPLETE, seconds=73.0, resumed_at=10, notes=("a",)),
        ),
        {"error": Curve.of([10, 20, 30], [1.0, 0.25, float("nan")])},
    )
    assert screen(tables.trial(describe.trial(RESULTS, record_))) == [
        "small/2  complete  0.25 at step 20",
        "1 min 15 s, seed 7, not in a git repository",
        "",
        "parameter  value",
        "arm        b",
        "x          0.1235",
        "",
        "metric  last  lowest  highest  points  last step",
        "error   nan   0.25    1        3       30",
        "",
        "attempt  outcome   time        what happened",
        "1        failed    2.0 s       broken",
        "2        complete  1 min 13 s  resumed at step 10; finished; a",
    ]


def test_a_failed_trial_ends_in_its_traceback() -> None:
    outcome = Outcome(FAILED.kind, "ValueError: no", detail="Traceback:\n\tno\x1b[2J\n")
    data = describe.trial(RESULTS, record(3, outcome))
    assert screen(tables.trial(data))[-3:] == ["", "Traceback:", "    no\\x1b[2J"]


def test_a_comparison_shows_what_differs() -> None:
    pairs = [(RESULTS, RESULTS[1]), (RESULTS, RESULTS[3]), (RESULTS, RESULTS[2])]
    assert screen(tables.comparison(describe.comparison(pairs))) == [
        "        small/1   small/3  small/2",
        "status  complete  failed   complete",
        "value   0.5       -        0.25",
        "step    20        -        20",
        "arm     a         a        b",
        "Equal in all: x=0.1235",
    ]


def test_the_sheet() -> None:
    code = Code("0123456789abcdef", "feedface" * 8)
    found = Results(STUDY, (record(1, COMPLETE, code=code),))
    child = Results(small_study().child("next"))
    assert screen(tables.sheet(describe.sheet([found, child], Path("none")))) == [
        "small",
        "  goal       Is b better?",
        "  note       first try",
        "  file       small.yaml",
        "  trials     1 complete",
        "  best       error 0.5 at step 20 (trial 1, arm=a)",
        "  code       commit 0123456789 and uncommitted changes (too large to keep)",
        "  reproduce  git checkout 0123456789",
        "             tunebook run small.yaml --trials 3",
        "",
        "next  after small",
        "  trials     none yet",
        "  best       none yet",
        '  reproduce  tunebook.run(tunebook.load("next").study, train)  # in Python',
    ]


def test_the_stages_of_a_probe_stand_together() -> None:
    about = small_study(goal="Is b better?", file="small.yaml")
    asked = Asked(
        "variance", about, (("x", 0.1),), "trial 3 of small", (("seeds", 3),), selected=0.2
    )
    stages = [
        replace(about, name=asked.stage(stage), goal=goal, asked=asked)
        for stage, goal in (("all", "How much?"), ("same", "Equal?"), ("same-2", "Equal?"))
    ]
    later = replace(stages[0], name="small.variance-2.all", asked=replace(asked, round=2))
    rows = describe.sheet([Results(study) for study in (*stages, later)], Path("none"))
    assert rows[0]["probe"] == {
        "probe": "variance",
        "study": "small",
        "start": "trial 3 of small",
        "round": 1,
    }
    assert screen(tables.sheet(rows)) == [
        "small.variance.all  probe variance of small",
        "  goal       How much?",
        "  start      trial 3 of small",
        "  file       small.yaml",
        "  trials     none yet",
        "  reproduce  tunebook probe variance small.yaml --seeds 3",
        "small.variance.same  none yet",
        "  goal       Equal?",
        "small.variance.same-2  none yet",
        "",
        "small.variance-2.all  probe variance of small",
        "  goal       How much?",
        "  start      trial 3 of small",
        "  file       small.yaml",
        "  trials     none yet",
        "  reproduce  tunebook probe variance small.yaml --seeds 3",
    ]


def test_an_empty_book() -> None:
    assert screen(tables.sheet([])) == ["The book has no study yet."]


def test_colours_are_left_out_where_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert tables.console().color_system is not None
    monkeypatch.setenv("NO_COLOR", "1")
    assert tables.console().no_color
