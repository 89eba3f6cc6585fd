"""Every figure of every study: hostile evidence, large evidence, and what all figures promise."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given

from hostile_evidence import Ran, evidence_of, evidences
from simulation import Plan, draw
from tunebook.charts.comparison import compare
from tunebook.charts.extents import rulers
from tunebook.charts.figures import Figure, Line, Points
from tunebook.charts.gallery import figures
from tunebook.charts.svg import svg
from tunebook.core.domains import Choice, Float
from tunebook.core.evidence import Evidence
from tunebook.core.space import Space
from tunebook.diagnosis.gathering import gather

ORDER = (
    "isolation",
    "isolation-buckets",
    "axes",
    "curves",
    "best-so-far",
    "best-of-k",
    "best-step",
    "gradient-norm",
    "gradient-histogram",
    "importance",
    "interactions",
    "parallel",
    "timeline",
)


def check(figure: Figure) -> None:
    """What holds for each figure: words, a table that fits its columns, arrays of one length."""
    assert figure.sentence.endswith(".")
    assert figure.title
    assert figure.panels
    assert len(figure.table.rows) <= 50
    assert all(len(row) == len(figure.table.columns) for row in figure.table.rows)
    assert len(figure.panels) == 1 or all(panel.title for panel in figure.panels)
    for panel in figure.panels:
        rulers(panel)
        for mark in panel.marks:
            arrays = [getattr(mark, f.name) for f in fields(mark)]
            sizes = {len(a) for a in arrays if isinstance(a, np.ndarray) and a.ndim == 1}
            assert len(sizes) <= 1
            labels = getattr(mark, "labels", ())
            assert not labels or isinstance(labels[0], tuple) or {len(labels)} == sizes


@given(evidences())
def test_hostile_evidence_gives_sound_figures_in_order(evidence: Evidence) -> None:
    made = figures(evidence)
    keys = [figure.key for figure in made]
    assert keys == sorted(set(keys), key=ORDER.index)
    for figure in made:
        check(figure)


@given(evidences(), evidences())
def test_any_two_studies_can_be_compared(one: Evidence, other: Evidence) -> None:
    for figure in compare(one, other):
        check(figure)


@pytest.mark.parametrize(
    "plan",
    [Plan(), Plan(settings=3, cliff=0.8, failures=0.1), Plan(trials=3), Plan(flat=True, noise=0.0)],
)
def test_simulated_studies_can_be_drawn(plan: Plan) -> None:
    for figure in figures(gather(draw(plan))):
        check(figure)
        assert svg(figure).startswith("<svg")


def test_no_trials_give_no_figures() -> None:
    assert figures(evidence_of(Space.of(nuisance={"a": Float(0, 1)}), [])) == ()


def test_one_trial_shows_what_one_trial_can() -> None:
    evidence = evidence_of(Space.of(nuisance={"a": Float(0, 1)}), [Ran({"a": 0.5}, 0.2)])
    shown = [figure.key for figure in figures(evidence)]
    assert shown == ["axes", "curves", "best-so-far", "best-step", "timeline"]


def test_only_choices_are_shown_by_name() -> None:
    space = Space.of(nuisance={"act": Choice(("relu", "gelu")), "norm": Choice((True, None))})
    ran = [Ran({"act": a, "norm": b}, 0.1 + a + b) for a in (0.2, 0.7) for b in (0.2, 0.7)] * 3
    made = {figure.key: figure for figure in figures(evidence_of(space, ran))}
    assert [panel.x.categories for panel in made["axes"].panels] == [
        ("relu", "gelu"),
        ("true", "null"),
    ]
    assert {"importance", "interactions", "parallel"} <= made.keys()


def test_all_constant_results_say_that_nothing_is_seen() -> None:
    space = Space.of(nuisance={"a": Float(0, 1), "b": Float(0, 1)})
    ran = [Ran({"a": i / 12, "b": (i * 5 % 12) / 12}, 0.5) for i in range(12)]
    made = {figure.key: figure for figure in figures(evidence_of(space, ran))}
    assert made["importance"].sentence == "No parameter has a visible share of the variance."
    assert made["interactions"].sentence == "No pair has more than 1% of the variance together."


def test_a_thousand_trials_stay_small() -> None:
    evidence = gather(draw(Plan(trials=1000, evaluations=200, cliff=0.7)))
    made = figures(evidence)
    for figure in made:
        check(figure)
        for panel in figure.panels:
            lines = [mark for mark in panel.marks if isinstance(mark, Line)]
            points = [mark for mark in panel.marks if isinstance(mark, Points)]
            assert sum(len(mark.x) for mark in lines) <= 12_500
            assert sum(len(mark.x) for mark in points) <= 800
    assert sum(len(svg(figure)) for figure in made) < 2e6


def test_figures_do_not_depend_on_chance() -> None:
    evidence = gather(draw(Plan(seed=4, trials=10, dimensions=2, settings=2)))
    first, second = figures(evidence), figures(evidence)
    assert [(f.key, f.sentence, f.table) for f in first] == [
        (f.key, f.sentence, f.table) for f in second
    ]
