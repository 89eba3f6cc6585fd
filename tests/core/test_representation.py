"""What a terminal and a notebook show of results."""

from __future__ import annotations

from dataclasses import replace

from searchable import study_in

from tunebook.core.curves import Curve
from tunebook.core.domains import Value
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Setting, Space
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
    results = Results(STUDY, (trial(1, 0.5), trial(2, 0.25)))
    assert repr(results).splitlines() == [
        "points: 2 complete",
        "trial  error  step  parameters",
        "2  0.25  10  lr=0.01235, name=relu",
        "1  0.5  10  lr=0.01235, name=relu",
    ]


def test_only_the_best_five_are_shown() -> None:
    results = Results(STUDY, tuple(trial(n, n / 10) for n in range(1, 9)))
    shown = [line.split()[0] for line in repr(results).splitlines()[2:]]
    assert shown == ["1", "2", "3", "4", "5"]


def test_no_trials() -> None:
    assert repr(Results(STUDY)) == "points: no trials yet"
    assert "no complete trial yet" in Results(STUDY)._repr_html_()


def test_html_escapes_what_users_wrote() -> None:
    study = replace(STUDY, goal="is a < b?")
    shown = Results(study, (trial(1, 0.5, name="<script>"),))._repr_html_()
    assert "<p>is a &lt; b?</p>" in shown
    assert "name=&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert shown.count("<tr>") == 2
