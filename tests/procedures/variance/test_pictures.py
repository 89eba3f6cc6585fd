"""Pictures of scatter."""

from __future__ import annotations

import numpy as np
import pytest

from tunebook.charts.figures import Intervals, Line, Points, Rule
from tunebook.core.objective import Metric
from tunebook.procedures.variance.pictures import seeds_and_differences, values_by_source
from tunebook.procedures.variance.scatter import Scatter
from tunebook.stats.variance import smallest_difference

METRIC = Metric("valid/error")
SCATTER = Scatter.of(
    [0.1, 0.2, 0.3],
    {"seed_init": [0.1, 0.3, 0.2, 0.2], "seed_data": [0.2, 0.2]},
    [(0.1, 0.12), (0.3, 0.26)],
)


def test_every_run_stands_in_the_row_of_what_was_varied() -> None:
    figure = values_by_source(METRIC, SCATTER)
    (panel,) = figure.panels
    rows = ("everything", "the initialisation", "the order of the data", "nothing")
    assert panel.y.categories == rows
    whiskers = next(mark for mark in panel.marks if isinstance(mark, Intervals))
    points = next(mark for mark in panel.marks if isinstance(mark, Points))
    assert [int(np.sum(points.y == i)) for i in range(4)] == [3, 4, 2, 4]
    assert whiskers.x[0] == pytest.approx(0.2)
    assert whiskers.high[0] - whiskers.x[0] == pytest.approx(0.1)
    # Equal runs are shown about the mean of all, by how far they are apart.
    nothing = points.x[points.y == 3]
    assert nothing == pytest.approx([0.21, 0.19, 0.18, 0.22])
    assert [row[0] for row in figure.table.rows] == list(rows)
    assert "the initialisation moves valid/error most" in figure.sentence
    assert figure.key == "probe-variance"


def test_without_sources_there_is_one_row() -> None:
    figure = values_by_source(METRIC, Scatter.of([0.1, 0.2], {}))
    assert figure.panels[0].y.categories == ("everything",)
    assert figure.sentence == "Each point is a run with seeds of its own."


def test_equal_runs_are_no_source() -> None:
    pairs = [(0.1, 0.12), (0.3, 0.26)]
    without = values_by_source(METRIC, Scatter.of([0.1, 0.2], {}, pairs))
    assert without.sentence == "Each point is a run with seeds of its own."
    idle = values_by_source(METRIC, Scatter.of([0.1, 0.2], {"seed_split": [0.3] * 10}, pairs))
    assert idle.sentence.endswith("No source that was varied alone moves valid/error.")


def test_more_seeds_show_smaller_differences() -> None:
    figure = seeds_and_differences(METRIC, SCATTER, 0.05)
    (panel,) = figure.panels
    line = next(mark for mark in panel.marks if isinstance(mark, Line))
    rule = next(mark for mark in panel.marks if isinstance(mark, Rule))
    assert np.all(np.diff(line.y) < 0)
    assert rule.at == 0.05
    five = smallest_difference(SCATTER.total, 5)
    assert five is not None
    assert line.y[list(line.x).index(5.0)] == five.estimate
    assert figure.key == "probe-seeds"
    assert not any(
        isinstance(mark, Rule)
        for mark in seeds_and_differences(METRIC, SCATTER, None).panels[0].marks
    )
