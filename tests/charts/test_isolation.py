"""Isolation plots: the best of each setting and how far luck reaches."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import DIVERGED, Ran, evidence_of
from tunebook.charts.figures import Figure, Intervals, Points
from tunebook.charts.isolation import best_of, isolation
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Setting, Space
from tunebook.stats.optima import Optimum

A, B = Setting((("model", "a"),)), Setting((("model", "b"),))
SPACE = Space.of(scientific={"model": ["a", "b"]}, nuisance={"rate": Float(0, 1)})


def evidence(first: list[float], second: list[float], better: str = "lower") -> Evidence:
    ran = [Ran({"rate": 0.5}, value, setting=A) for value in first]
    ran += [Ran({"rate": 0.5}, value, setting=B) for value in second]
    ran.append(Ran({"rate": 0.9}, outcome=DIVERGED, setting=B))
    return evidence_of(SPACE, ran, Objective(Metric("error", better)))  # type: ignore[arg-type]


def marks(figure: Figure | None) -> tuple[Intervals, Points]:
    assert figure is not None
    found = figure.panels[0].marks
    (whiskers,) = [mark for mark in found if isinstance(mark, Intervals)]
    (best,) = [m for m in found if isinstance(m, Points) and m.weight == "strong"]
    return whiskers, best


def test_the_best_trial_of_each_setting() -> None:
    figure = isolation(evidence([0.2, 0.1], [0.4, 0.3]))
    whiskers, best = marks(figure)
    assert best.y.tolist() == [0.1, 0.3]
    assert best.labels == ("trial 2 (model=a): 0.1", "trial 4 (model=b): 0.3")
    assert whiskers.x.tolist() == [0, 1]
    assert figure is not None
    assert (figure.panels[0].x.label, figure.panels[0].x.categories) == ("model", ("a", "b"))
    assert figure.table.rows[1] == ("model=b", "3", "1", "4", "0.3", "0.3", "0.4")


def test_higher_may_be_better() -> None:
    _, best = marks(isolation(evidence([0.2, 0.1], [0.4, 0.3], "higher")))
    assert best.y.tolist() == [0.2, 0.4]


def test_the_sentence_says_when_it_may_be_luck() -> None:
    near = isolation(evidence([0.10, 0.2], [0.11, 0.2]))
    far = isolation(evidence([0.10, 0.101], [0.9, 0.91]))
    assert near is not None and far is not None
    assert near.sentence == (
        "model=a has the best trial, 1 (0.1), 0.01 better than that of model=b; "
        "their whiskers meet, so that this may be luck."
    )
    assert far.sentence.endswith("its whisker ends before that, at 0.101.")
    assert "no winner follows from them" in far.note


def test_whiskers_hold_the_best_of_resamples() -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=25).tolist()
    arm = evidence(values, [0.0]).arms[0]
    best = best_of(arm.ranked, arm.objective.metric)
    again = random.choice(values, (4000, 25)).min(axis=1)
    assert best.low == min(values)
    assert np.mean(again <= best.high) >= 0.95
    inside = sorted(values)[sorted(values).index(best.high) - 1]
    assert np.mean(again <= inside) < 0.95


def test_one_trial_has_no_whisker() -> None:
    arm = evidence([0.5], [0.1]).arms[0]
    best = best_of(arm.ranked, arm.objective.metric)
    assert (best.low, best.middle, best.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("better", "sign"), [("lower", 1), ("higher", -1)])
def test_sample_paths_give_the_whiskers_where_they_are_known(better: str, sign: int) -> None:
    paths = np.linspace(0.0, 1.0, 101)
    optimum = Optimum(np.zeros(1), paths, np.zeros((101, 1)), np.zeros(101))
    figure = isolation(evidence([0.2], [0.4], better), {A: optimum, B: optimum})
    whiskers, best = marks(figure)
    assert sorted(sign * end for end in (whiskers.low[0], whiskers.high[0])) == pytest.approx(
        [0.05, 0.95]
    )
    assert best.y.tolist() == [0.2, 0.4]
    assert figure is not None and "sample paths" in figure.note


def test_paths_of_some_settings_only_are_not_mixed_with_resamples() -> None:
    optimum = Optimum(np.zeros(1), np.zeros(9), np.zeros((9, 1)), np.zeros(9))
    figure = isolation(evidence([0.2], [0.4]), {A: optimum})
    assert figure is not None and "resample" in figure.note


def test_one_setting_has_nothing_to_isolate() -> None:
    assert isolation(evidence_of(Space.of(nuisance={"a": Float(0, 1)}), [Ran({"a": 0}, 1)])) is None


def test_a_setting_without_results_is_named_in_the_table() -> None:
    figure = isolation(evidence([0.2], []))
    assert figure is not None
    assert figure.sentence == "model=a has the best trial, 1 (0.2); no other setting has a result."
    assert figure.table.rows[1] == ("model=b", "1", "1", "-", "-", "-", "-")
