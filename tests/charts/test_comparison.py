"""Two studies side by side."""

from __future__ import annotations

from dataclasses import replace

from hostile_evidence import Ran, evidence_of
from tunebook.charts.comparison import compare
from tunebook.charts.figures import Figure, Line, Points
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space


def study(name: str, values: list[float], high: float = 1.0) -> Evidence:
    space = Space.of(nuisance={"rate": Float(1e-4, high, log=True)})
    made = evidence_of(space, [Ran({"rate": i / 10}, v) for i, v in enumerate(values)])
    results = replace(made.results, study=replace(made.study, name=name))
    return replace(made, results=results)


ONE = study("first", [0.5, 0.4, 0.3, 0.6])
OTHER = study("second", [0.2, 0.5, 0.4, 0.3], high=10.0)


def by_key(one: Evidence = ONE, other: Evidence = OTHER) -> dict[str, Figure]:
    return {figure.key: figure for figure in compare(one, other)}


def test_the_best_curves_are_grouped_by_study() -> None:
    figure = by_key()["compare-curves"]
    lines = [mark for mark in figure.panels[0].marks if isinstance(mark, Line)]
    assert [(line.group, line.name) for line in lines if line.name] == [(0, "first"), (1, "second")]
    assert len(lines) == 6
    assert figure.sentence == (
        "The best results are 0.3 in first and 0.2 in second (4 and 4 trials with a result): "
        "second is 0.1 better."
    )


def test_the_best_of_k_is_compared_at_equal_k() -> None:
    longer = study("second", [0.2, 0.5, 0.4, 0.3, 0.1, 0.15, 0.12, 0.11])
    figure = by_key(other=longer)["compare-best-of-k"]
    assert figure.sentence.startswith("After equally many trials, 2, the median best is ")
    assert {line.name for line in figure.panels[0].marks if isinstance(line, Line)} == {
        "first",
        "second",
    }


def test_axes_hold_the_ranges_of_both() -> None:
    figure = by_key()["compare-axes"]
    (panel,) = figure.panels
    assert panel.x.high is not None and panel.x.high > 10
    assert panel.x.low is not None and panel.x.low < 1e-4
    points = [mark for mark in panel.marks if isinstance(mark, Points)]
    assert [mark.group for mark in points] == [0, 1]
    assert figure.sentence == "The best trial moved in rate from 0.000631 to 0.0001."


def test_a_study_can_be_compared_with_itself() -> None:
    figures = by_key(ONE, ONE)
    names = figures["compare-axes"].table.columns
    assert names == ("parameter", "first (1)", "first (2)")
    assert figures["compare-axes"].sentence == "The best trials agree."
    assert figures["compare-best-of-k"].sentence.endswith("they are equal.")


def test_other_metrics_cannot_be_compared() -> None:
    other = replace(OTHER, objective=Objective(Metric("accuracy", "higher")))
    assert compare(ONE, other) == ()


def test_parameters_that_are_not_shared_are_named() -> None:
    space = Space.of(nuisance={"decay": Float(0, 1), "rate": Float(0, 1)})
    linear = evidence_of(space, [Ran({"decay": 0.5, "rate": 0.5}, 0.3)] * 4)
    assert "compare-axes" not in by_key(ONE, linear)  # a log and a linear axis are not one


def test_one_study_without_results() -> None:
    figures = by_key(ONE, study("empty", []))
    assert figures["compare-curves"].sentence == "Only first has a result."
    assert "compare-best-of-k" not in figures
