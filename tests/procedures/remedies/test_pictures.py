"""Pictures of instability and its remedies."""

from __future__ import annotations

import numpy as np
import pytest

from simulated_probes import results_of
from simulated_remedies import Program, subject
from tunebook.charts.figures import Intervals, Line, Points, Rule
from tunebook.core.evidence import Reading
from tunebook.core.findings import Question
from tunebook.core.objective import Metric
from tunebook.procedures.remedies.comparing import Comparison, Outcomes
from tunebook.procedures.remedies.edge import Edge, edge_of
from tunebook.procedures.remedies.pictures import curves, rates, strip
from tunebook.procedures.sweeps import judged, mean_loss, readings_of

QUESTION = Question("probe-warmup", "Does it help?", "learning-rate-warmup")
ABOUT = subject()


def edge(program: Program) -> Edge:
    study = ABOUT.stage("sweep", {"lr": [0.01, 0.03, 0.1]}, goal="?", steps=120, replicates=2)
    results = results_of(study, program)
    return edge_of(ABOUT, judged(results, "lr", mean_loss(Metric("valid/error"))), 120)


def warmed(length: int) -> tuple[Reading, ...]:
    study = ABOUT.stage("w", {"warmup": [length]}, {"lr": 1.0}, goal="?", steps=60, replicates=3)
    return readings_of(results_of(study, Program(limit=5.0)))


def test_rates_with_the_best_and_the_first_unstable_one() -> None:
    (figure,) = rates(edge(Program()))
    marks = figure.panels[0].marks
    assert [mark.at for mark in marks if isinstance(mark, Rule)] == [0.03, 0.1]
    assert sum(len(mark.x) for mark in marks if isinstance(mark, Points)) == 6
    assert figure.sentence == ("From 0.01 to 0.1, 0.03 is best; from 0.1 on training is unstable.")
    (calm,) = rates(edge(Program(limit=5.0, optimum=0.03)))
    assert calm.sentence == "From 0.01 to 0.1, 0.03 is best, and none above it is unstable."


def test_curves_of_the_best_the_unstable_and_what_was_tried() -> None:
    found = edge(Program())
    (figure,) = curves(found, QUESTION, 0.1, 1.0, {"warm-up of 4 steps": warmed(4)})
    lines = [mark for mark in figure.panels[0].marks if isinstance(mark, Line)]
    assert [line.name for line in lines if line.name] == [
        *("0.03, none", "0.1, none", "1, warm-up of 4 steps"),
    ]
    assert len(lines) == len(figure.table.rows) == 2 + 2 + 3
    assert figure.key == "probe-warmup"


def test_curves_at_the_best_rate_where_none_above_is_unstable() -> None:
    found = edge(Program(limit=5.0, optimum=0.03))
    (figure,) = curves(found, QUESTION, None, 0.03, {"clipped at 1": warmed(4)})
    assert figure.sentence == (
        "train/loss at the best learning rate, 0.03, without; then at 0.03: clipped at 1."
    )
    assert len(figure.table.rows) == 2 + 3


def test_no_curves_where_nothing_was_unstable() -> None:
    assert curves(edge(Program(limit=5.0, optimum=0.03)), QUESTION, None, 1.0, {}) == ()


def test_results_over_fresh_seeds() -> None:
    found = Comparison(Metric("error"), Outcomes((0.3, 0.4), 1), Outcomes((0.1, 0.2, 0.3)))
    (figure,) = strip(QUESTION, found)
    points = [mark for mark in figure.panels[0].marks if isinstance(mark, Points)]
    assert [np.unique(mark.x).tolist() for mark in points] == [[0.0], [1.0], [0.0]]
    assert (points[2].crosses, points[2].y.tolist()) == (True, [np.inf])
    means = [mark for mark in figure.panels[0].marks if isinstance(mark, Intervals)]
    assert [float(mark.y[0]) for mark in means] == pytest.approx([0.35, 0.2])
    assert [row[0] for row in figure.table.rows] == ["before"] * 2 + ["after"] * 3 + ["before"]
    assert figure.table.rows[-1] == ("before", "came to nothing")
    assert strip(QUESTION, Comparison(Metric("error"), Outcomes(()), Outcomes(()))) == ()


def test_seeds_that_all_came_to_nothing_are_drawn() -> None:
    (figure,) = strip(QUESTION, Comparison(Metric("error"), Outcomes((), 2), Outcomes((), 1)))
    assert len(figure.table.rows) == 3
