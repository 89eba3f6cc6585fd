"""The report on a terminal of 80 columns."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from hypothesis import given
from rich.console import Console

from reported import by_hand, compared, hostile, probed, records, reports, study
from shown import check_screen
from tunebook.charts.figures import Intervals
from tunebook.core.results import Results
from tunebook.diagnosis.gathering import gather
from tunebook.report import terminal
from tunebook.report.making import Report, assemble


def test_findings_come_first_and_the_worst_of_them() -> None:
    lines = terminal.text(by_hand()).splitlines()
    assert lines[:23] == [
        "model",
        "Which model is better?",
        "judged   best valid/error, lower is better",
        "trials   8 trials ended: 7 complete, 1 infeasible",
        "best     0.16 at step 30, trial 8: dropout=0.295, learning_rate=0.06494,",
        "         model=cnn",
        "answer   model=cnn wins with a probability of 0.98.",
        "",
        "1 problem, 1 to watch, 1 unknown, 2 good",
        "✗ problem  4 of the best 5 trials lie in the top tenth of learning_rate.",
        "           → Expand it: learning_rate: {log: [1e-4, 1.0]}.",
        "! watch    The loss jumps in 3 trials.",
        "           → Clip at 1.2.",
        "? unknown  trial variance: No configuration ran twice.",
        "           → Run 5 seeds.",
        "✓ good     Nothing wrong found with: baseline.",
        "",
        "valid/error against learning_rate",
        "valid/error",
        *lines[19:23],
    ]
    end = lines.index("Settings")
    assert lines[end:] == [
        "Settings",
        "setting    trials                    best  trial",
        "model=mlp  3 complete, 1 infeasible  0.18      7",
        "model=cnn  4 complete                0.16      8",
        "",
        "Best trials",
        "trial  value  step  parameters",
        "    8   0.16    30  dropout=0.295, learning_rate=0.06494, model=cnn",
        "    7   0.18    30  dropout=0.11, learning_rate=0.02738, model=mlp",
        "    6    0.2    30  dropout=0.425, learning_rate=0.01155, model=cnn",
        "    4   0.24    30  dropout=0.055, learning_rate=0.002054, model=cnn",
        "    3   0.26    30  dropout=0.37, learning_rate=0.000866, model=mlp",
        "",
        "Next:  Expand it: learning_rate: {log: [1e-4, 1.0]}.",
        "More:  tunebook report model --html report.html",
        "       tunebook show model 8",
    ]


def test_the_pictures_are_of_the_worst_finding_and_of_the_search() -> None:
    assert [picture.key for picture in terminal.chosen(by_hand())] == [
        "axis-learning_rate",
        "best-so-far",
    ]
    assert terminal.chosen(assemble(gather(records(study())), ())) == ()


def test_two_studies() -> None:
    text = terminal.text(compared())
    assert "Compared with other\nmodel has the better result: valid/error 0.16" in text
    assert "What differs between them:\n  + depth: fixed at 3\n" in text


def test_a_study_without_trials() -> None:
    assert terminal.text(assemble(gather(Results(study())), ())).splitlines() == [
        "model",
        "Which model is better?",
        "judged   best valid/error, lower is better",
        "trials   no trials yet",
        "",
        "No question could be asked: the study has no trials yet.",
        "",
        "More:  tunebook report model --html report.html",
    ]


def shown(report: Report, *, colours: bool) -> str:
    kind = "standard" if colours else "auto"
    console = Console(file=io.StringIO(), force_terminal=colours, color_system=kind, width=80)
    with console.capture() as captured:
        console.print(terminal.screen(report))
    return captured.get()


def test_colours_are_for_terminals_and_never_alone() -> None:
    assert "\x1b[" in shown(by_hand(), colours=True)
    plain = shown(by_hand(), colours=False)
    assert "\x1b[" not in plain
    assert all(word in plain for word in ("✗ problem", "! watch", "? unknown", "✓ good"))


def test_hostile_names_cannot_move_the_cursor() -> None:
    check_screen(terminal.text(hostile()).splitlines())


@given(reports())
def test_any_report_fits(report: Report) -> None:
    check_screen(terminal.text(report).splitlines())


def test_the_answers_of_a_probe_are_told_in_full() -> None:
    lines = terminal.text(probed()).splitlines()
    assert lines == [
        "model.variance",
        "How much do results vary?",
        "judged   best valid/error, lower is better",
        "trials   20 trials in 2 stages: 19 complete, 1 infeasible",
        "",
        "no problem, 1 to watch, 1 unknown, 1 good",
        "✓ good     The standard deviation is 0.01.",
        "! watch    It takes 40 seeds.",
        "? unknown  The split is not named.",
        "           → Write 'seed: 0' under fixed.",
        "",
        "Proposed changes of the study",
        "  @@ -2 +2 @@",
        "  -dropout: 0.1",
        "  +dropout: 0.2",
        "To be tuned again after that: learning_rate",
        "",
        "More:  tunebook report model.variance --html report.html",
    ]


def test_the_pictures_of_a_probe_are_shown_of_a_study_the_first() -> None:
    keys = ("probe-variance", "probe-seeds")
    assert [f.key for f in terminal.chosen(probed(*keys))] == ["probe-variance", "probe-seeds"]
    assert [f.key for f in terminal.chosen(probed())] == []
    assert len(terminal.chosen(by_hand())) == 2
    text = terminal.text(probed(*keys))
    assert text.index("Picture of probe-variance") < text.index("Picture of probe-seeds")


def test_of_several_panels_a_probe_shows_the_first() -> None:
    report = probed("probe-variance")
    (picture,) = report.figures
    panels = tuple(replace(picture.panels[0], title=title) for title in ("One", "Two", "Three"))
    wide = replace(report, figures=(replace(picture, panels=panels),))
    text = terminal.text(wide)
    assert "One" in text and "Two" in text and "Three" not in text
    of_study = replace(by_hand(), figures=(replace(by_hand().figures[0], panels=panels),))
    assert terminal.chosen(of_study) == ()


def test_whiskers_suit_the_text_of_a_probe_only() -> None:
    report = probed("probe-variance")
    (picture,) = report.figures
    panel = picture.panels[0]
    x = np.array([1.0, 2.0])
    whiskers = replace(panel, marks=(Intervals(x, x, x - 1, x + 1),))
    drawn = replace(picture, panels=(whiskers,))
    assert terminal.chosen(replace(report, figures=(drawn,))) == (drawn,)
    alone = replace(report.study, asked=None)
    assert terminal.chosen(replace(report, study=alone, figures=(drawn,))) == ()
