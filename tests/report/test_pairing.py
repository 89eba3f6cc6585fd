"""Pictures beside findings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reported import PROBLEM, axes, by_hand, figure, probed, records, study
from tunebook.charts import gallery
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.diagnosis import questions
from tunebook.diagnosis.gathering import gather
from tunebook.report import making, pairing
from tunebook.report.making import Report, assemble

EVIDENCE = gather(records(study()))


def report(*findings: Finding, keys: tuple[str, ...] = ()) -> Report:
    pictures = [axes("learning_rate", "dropout"), *(figure(key) for key in keys)]
    return assemble(EVIDENCE, findings, pictures)


def test_the_axis_of_the_parameter_that_a_finding_names() -> None:
    found = pairing.beside(by_hand())
    assert list(found) == ["search-space"]
    picture = found["search-space"]
    assert (picture.key, picture.title) == (
        "axis-learning_rate",
        "valid/error against learning_rate",
    )
    assert [panel.x.label for panel in picture.panels] == ["learning_rate"]
    assert picture.sentence == "Searched: 0.0001 to 0.1 (log). Best trial: 0.05."
    assert [row[0] for row in picture.table.rows] == ["learning_rate"]


def test_a_name_within_another_is_not_meant() -> None:
    finding = replace(PROBLEM, sentence="The sgd.learning_rate and learning_rate2: dropout.")
    assert pairing.beside(report(finding))["search-space"].key == "axis-dropout"


def test_without_a_parameter_the_next_best_picture() -> None:
    finding = replace(PROBLEM, sentence="The best trials lie at an edge.")
    assert pairing.beside(report(finding))["search-space"].key == "axes"


def test_a_picture_is_shown_once_and_found_from_elsewhere() -> None:
    rising = Finding(questions.TRAINING_LOSS, Verdict.PROBLEM, "It rises.")
    overfit = Finding(questions.OVERFITTING, Verdict.WATCH, "Trials overfit.")
    calm = Finding(questions.PERIODICITY, Verdict.GOOD, "No rhythm.")
    made = report(overfit, rising, calm, keys=("curves",))
    assert {key: f.key for key, f in pairing.beside(made).items()} == {"training-loss": "curves"}
    assert [getattr(pairing.elsewhere(f, made), "key", None) for f in (overfit, calm)] == [
        "curves",
        "curves",
    ]


def test_what_is_unknown_or_good_has_none_beside_it() -> None:
    sampled = Finding(questions.SAMPLED_ENOUGH, Verdict.UNKNOWN, "Too few trials.")
    made = report(sampled, keys=("best-of-k",))
    assert pairing.beside(made) == {}
    assert getattr(pairing.elsewhere(sampled, made), "key", None) == "best-of-k"


def test_the_map_names_questions_and_pictures_that_exist() -> None:
    asked = {q.key for q in vars(questions).values() if isinstance(q, Question)}
    assert set(pairing.FIGURES) <= asked
    folder = Path(gallery.__file__).parent
    source = "".join(path.read_text() for path in sorted(folder.glob("*.py")))
    keys = {key for keys in pairing.FIGURES.values() for key in keys}
    keys -= {pairing.AXIS, pairing.METRIC}
    assert [key for key in sorted(keys) if f'"{key}"' not in source] == []


def test_the_real_axis_plots_have_a_panel_for_each_parameter() -> None:
    made = making.make(records(study()))
    finding = replace(PROBLEM, sentence="dropout is at its edge.")
    picture = next(iter(pairing.wanted(finding, made)))
    assert (picture.key, len(picture.panels)) == ("axis-dropout", 1)
    assert picture.sentence.startswith("Searched: ")


def test_noise_of_the_metric_is_shown_by_its_own_panel() -> None:
    made = making.make(records(study()))
    finding = Finding(questions.LATE_VARIANCE, Verdict.WATCH, "It varies.")
    picture = next(iter(pairing.wanted(finding, made)))
    assert (picture.key, picture.title) == ("curve", "Training curves of valid/error")
    assert [panel.title for panel in picture.panels] == ["valid/error"]
    # Good findings lead to a picture that the report has.
    assert getattr(pairing.elsewhere(finding, made), "key", None) == "curves"


def test_the_picture_of_a_probe_has_the_name_of_its_question() -> None:
    found = pairing.beside(probed("probe-variance", "other", "probe-seeds"))
    assert {key: picture.key for key, picture in found.items()} == {
        "probe-seeds": "probe-seeds",
        "probe-variance": "probe-variance",
    }
