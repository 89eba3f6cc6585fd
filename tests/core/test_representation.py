"""What a terminal and a notebook show of studies and results."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from searchable import study_in
from strategies import studies, texts
from tunebook.core.curves import Curve
from tunebook.core.domains import Float, Value
from tunebook.core.representation import one_line, results_text, study_html
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting, Space
from tunebook.core.study import Study
from tunebook.core.trials import FromSequence, Outcome, OutcomeKind, Trial

STUDY = study_in(Space())
COMPLETE = Outcome(OutcomeKind.COMPLETE, "it ended")


def trial(number: int, value: float, name: Value = "relu") -> TrialRecord:
    config: dict[str, Value] = {"lr": 0.0123456, "name": name}
    return TrialRecord(
        Trial("points", number, Setting(), config, 0, FromSequence(number - 1)),
        (AttemptRecord(1, "token", "folder", outcome=COMPLETE),),
        {"error": Curve.of([10], [value])},
    )


def test_text_shows_counts_and_the_best_trials() -> None:
    results = Results(STUDY, (trial(1, 0.5), trial(2, 0.25, name=None)))
    assert repr(results) == results_text(results)
    assert [line.split() for line in repr(results).splitlines()] == [
        ["points:", "2", "complete"],
        ["trial", "error", "step", "parameters"],
        ["2", "0.25", "10", "lr=0.01235,", "name=null"],
        ["1", "0.5", "10", "lr=0.01235,", "name=relu"],
    ]


def test_only_the_best_five_are_shown() -> None:
    results = Results(STUDY, tuple(trial(n, n / 10) for n in range(1, 9)))
    shown = [line.split()[0] for line in repr(results).splitlines()[2:]]
    assert shown == ["1", "2", "3", "4", "5"]


def test_no_trials() -> None:
    assert repr(Results(STUDY)) == "points: no trials yet"
    assert "<table>" not in Results(STUDY)._repr_html_()


@given(texts)
def test_one_line_is_one_line(text: str) -> None:
    shown = one_line(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
    assert one_line(shown) == shown


def test_html_escapes_what_users_wrote() -> None:
    study = replace(STUDY, goal="is a < b?")
    shown = Results(study, (trial(1, 0.5, name="<script>"),))._repr_html_()
    assert "is a &lt; b?" in shown
    assert "name=&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert shown.count("<tr>") == 2


def test_a_study_shows_its_question_and_parameters() -> None:
    study = study_in(Space.of(nuisance={"lr": Float(0.0, 1.0)}), goal="why?", trials=7)
    shown = study_html(study)
    assert "<strong>points</strong><br>why?" in shown
    assert "error, lower is better; 7 trials for each setting" in shown
    assert "<td>lr</td><td>nuisance, 0 to 1</td>" in shown


@given(studies())
def test_any_study_can_be_shown(study: Study) -> None:
    shown = study_html(study)
    assert shown.isprintable()
    assert shown.count("<tr>") == (len(study.space.names) + 1 if study.space.names else 0)
