"""Buckets of continuous scientific parameters, on the parameter's own scale."""

from __future__ import annotations

import pytest

from hostile_evidence import Ran, evidence_of
from tunebook.charts.buckets import bucket_isolation
from tunebook.charts.figures import Intervals, Rule
from tunebook.core.domains import Float, Int
from tunebook.core.space import Parameter, Role, Space

DECAY = Parameter("decay", Role.SCIENTIFIC, Float(1e-6, 1e-2, log=True), buckets=4)
SPACE = Space((DECAY,))
VALUES = [(0.1, 0.5), (0.2, 0.4), (0.6, 0.1), (0.7, 0.3), (1.0, 0.2)]


def test_the_best_of_each_bucket_stands_in_its_middle() -> None:
    figure = bucket_isolation(evidence_of(SPACE, [Ran({"decay": u}, v) for u, v in VALUES]))
    assert figure is not None
    (panel,) = figure.panels
    (whiskers,) = [mark for mark in panel.marks if isinstance(mark, Intervals)]
    assert whiskers.x == pytest.approx([10**-5.5, 10**-3.5, 10**-2.5])
    assert whiskers.y.tolist() == [0.4, 0.1, 0.2]
    edges = [mark.at for mark in panel.marks if isinstance(mark, Rule)]
    assert edges == pytest.approx([1e-5, 1e-4, 1e-3])
    assert panel.x.scale == "log"


def test_the_sentence_names_the_bucket() -> None:
    figure = bucket_isolation(evidence_of(SPACE, [Ran({"decay": u}, v) for u, v in VALUES]))
    assert figure is not None
    assert figure.sentence == (
        "The best trial, 3 (0.1), has decay in 0.0001 to 0.001, 0.1 better than the best of any "
        "other bucket; their whiskers meet, so that this may be luck."
    )
    assert figure.table.rows[1] == ("decay", "0.0001 to 0.001", "2", "3", "0.1", "0.1", "0.3")


def test_one_bucket_with_all_trials() -> None:
    figure = bucket_isolation(evidence_of(SPACE, [Ran({"decay": 0.1}, 0.5)]))
    assert figure is not None
    assert figure.sentence.endswith("in 1e-06 to 1e-05, as has every trial.")


def test_without_results_or_ranges_there_is_none() -> None:
    assert bucket_isolation(evidence_of(SPACE, [])) is None
    assert bucket_isolation(evidence_of(Space.of(scientific={"a": [1, 2]}), [])) is None


def test_buckets_of_whole_numbers_part_between_them() -> None:
    layers = Parameter("layers", Role.SCIENTIFIC, Int(1, 6), buckets=3)
    ran = [Ran({"layers": (i + 0.5) / 6}, 0.1 * (i + 1)) for i in range(6)]
    figure = bucket_isolation(evidence_of(Space((layers,)), ran))
    assert figure is not None
    marks = figure.panels[0].marks
    assert [mark.at for mark in marks if isinstance(mark, Rule)] == [2.5, 4.5]
    assert [row[1:4] for row in figure.table.rows] == [
        ("1 to 2", "2", "1"),
        ("3 to 4", "2", "3"),
        ("5 to 6", "2", "5"),
    ]
    (whiskers,) = [mark for mark in marks if isinstance(mark, Intervals)]
    assert whiskers.x.tolist() == [1.5, 3.5, 5.5]
