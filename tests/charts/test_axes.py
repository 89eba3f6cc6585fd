"""Axis plots: bounds, scales, the best few, infeasible trials on the bad edge."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import DIVERGED, Ran, evidence_of
from tunebook.charts.axes import axis_plots
from tunebook.charts.figures import Figure, Points, Rule
from tunebook.core.domains import Choice, Float
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Setting, Space

SPACE = Space.of(
    nuisance={
        "rate": Float(1e-4, 1.0, log=True),
        "act": Choice(("relu", "gelu")),
        "slope": Float(0, 1),
    },
    when={"slope": {"act": "relu"}},
)
POINTS = [{"rate": i / 8, "act": i % 2 / 2, "slope": 0.25} for i in range(9)]


def figure(better: str = "lower") -> Figure:
    ran = [Ran(point, 0.1 + i / 100) for i, point in enumerate(POINTS[:8])]
    ran.append(Ran(POINTS[8], outcome=DIVERGED))
    made = axis_plots(evidence_of(SPACE, ran, Objective(Metric("error", better))))  # type: ignore[arg-type]
    assert made is not None
    return made


def points(made: Figure, panel: int) -> list[Points]:
    return [mark for mark in made.panels[panel].marks if isinstance(mark, Points)]


def test_each_parameter_has_its_own_axis() -> None:
    made = figure()
    assert [panel.title for panel in made.panels] == ["rate", "act", "slope"]
    assert [panel.x.scale for panel in made.panels] == ["log", "category", "linear"]
    assert made.panels[1].x.categories == ("relu", "gelu")


def test_bounds_are_rules_inside_the_axis() -> None:
    panel = figure().panels[0]
    assert [mark.at for mark in panel.marks if isinstance(mark, Rule)] == [1e-4, 1.0]
    assert panel.x.low is not None and panel.x.high is not None
    assert 5e-5 < panel.x.low < 1e-4 < 1.0 < panel.x.high < 2.0
    assert not [mark for mark in figure().panels[1].marks if isinstance(mark, Rule)]


def test_the_best_five_are_strong() -> None:
    (strong,) = [mark for mark in points(figure(), 0) if mark.weight == "strong"]
    assert strong.y == pytest.approx([0.1, 0.11, 0.12, 0.13, 0.14])
    assert strong.labels[0] == "trial 1: 0.1"


def test_infeasible_trials_are_crosses_on_the_bad_edge() -> None:
    for better, edge in (("lower", np.inf), ("higher", -np.inf)):
        (crosses,) = [mark for mark in points(figure(better), 0) if mark.crosses]
        assert (crosses.x.tolist(), crosses.y.tolist()) == ([1.0], [edge])
        assert crosses.labels == ("trial 9: valid/error is NaN",)


def test_a_parameter_that_does_not_exist_has_no_point() -> None:
    drawn = sum(len(mark.x) for mark in points(figure(), 2))
    assert drawn == 5  # every other trial, the infeasible one included


def test_all_panels_have_one_value_axis() -> None:
    assert len({panel.y for panel in figure().panels}) == 1
    assert figure().panels[0].y.low == pytest.approx(0.0972)


def test_the_sentence_has_the_numbers() -> None:
    assert figure().sentence == (
        "The best is trial 1 (error 0.1). The best 5 of 8 trials have rate 0.0001 to 0.01, "
        "act relu and gelu and slope 0.25. 1 infeasible trial is a cross at the top."
    )
    assert figure("higher").sentence.endswith("1 infeasible trial is a cross at the bottom.")


def test_the_table_has_a_row_for_each_parameter() -> None:
    assert figure().table.rows[0] == (
        "rate",
        "0.0001 to 1 (log)",
        "0.0001",
        "0.0001 to 0.01",
        "1",
    )


def test_settings_are_groups() -> None:
    space = Space.of(scientific={"model": ["a", "b"]}, nuisance={"rate": Float(0, 1)})
    ran = [
        Ran({"rate": 0.5}, value, setting=Setting((("model", model),)))
        for model, value in (("a", 0.1), ("b", 0.2))
        for _ in range(6)
    ]
    made = axis_plots(evidence_of(space, ran))
    assert made is not None
    assert {mark.group: mark.name for mark in points(made, 0) if mark.name} == {
        0: "model=a",
        1: "model=b",
    }


def test_all_infeasible_still_shows_where() -> None:
    made = axis_plots(evidence_of(SPACE, [Ran(point, outcome=DIVERGED) for point in POINTS]))
    assert made is not None
    assert made.sentence == "No trial has a result. 9 infeasible trials are crosses at the top."


def test_a_space_without_ranges_has_no_axis_plot() -> None:
    assert axis_plots(evidence_of(Space.of(fixed={"a": 1}), [Ran({}, 0.1)])) is None
