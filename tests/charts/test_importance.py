"""Importance and interactions, found here or given."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import Ran, evidence_of
from tunebook.charts.figures import Bars, Intervals, Rule, Tiles
from tunebook.charts.importance import effect_size, importance_bars, interactions, shares
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.space import Space
from tunebook.stats.importance import Effect

SPACE = Space.of(nuisance={"idle": Float(0, 1), "busy": Float(0, 1)})


def evidence(trials: int, together: bool = False) -> Evidence:
    random = np.random.default_rng(5)
    ran = []
    for _ in range(trials):
        idle, busy = random.random(2)
        effect = 4 * (idle - 0.5) * (busy - 0.5) if together else (busy - 0.4) ** 2
        ran.append(Ran({"idle": idle, "busy": busy}, 0.2 + effect))
    return evidence_of(SPACE, ran)


def test_the_parameter_that_does_everything_comes_first() -> None:
    figure = importance_bars(evidence(30))
    assert figure is not None
    bars, effects = figure.panels
    assert bars.x.categories == ("busy", "idle")
    alone, more = (mark for mark in bars.marks if isinstance(mark, Bars))
    assert alone.top[0] > 90 and alone.top[1] < 5
    assert np.all(more.base == alone.top)
    (whiskers,) = [mark for mark in effects.marks if isinstance(mark, Intervals)]
    # The effect runs from 0.4, the optimum, to 1.
    assert whiskers.y[0] == pytest.approx(0.36, abs=0.02)
    assert whiskers.low[0] < whiskers.y[0] < whiskers.high[0]
    assert any(isinstance(mark, Rule) for mark in effects.marks)
    assert figure.sentence.startswith("busy has ")
    assert figure.sentence.endswith("Less than 5%: idle.")


def test_an_interaction_is_the_dark_tile() -> None:
    figure = interactions(evidence(40, together=True))
    assert figure is not None
    (tiles,) = figure.panels[0].marks
    assert isinstance(tiles, Tiles)
    assert tiles.values[0, 1] == tiles.values[1, 0] > 0.8
    assert tiles.labels[0][1].endswith("%")
    assert figure.sentence.startswith("idle and busy interact most: ")


def test_what_is_known_is_not_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    few = evidence(10)
    known = shares(few)
    assert known is not None
    monkeypatch.setattr("tunebook.charts.importance.fit", None)
    assert importance_bars(few, known) is not None
    assert interactions(few, known) is not None


def test_too_few_results_give_nothing() -> None:
    assert shares(evidence(7)) is None
    assert importance_bars(evidence(0)) is None


def test_parameters_that_are_not_everywhere_are_left_out_and_named() -> None:
    space = Space.of(
        nuisance={"act": ["relu", "elu"], "slope": Float(0, 1)}, when={"slope": {"act": "relu"}}
    )
    ran = [Ran({"act": i % 2 / 2, "slope": i / 12}, i / 12) for i in range(12)]
    found = shares(evidence_of(space, ran))
    assert found is not None
    assert found.names == ("act",)
    assert found.note.endswith("Left out, for not every trial has them: slope.")
    assert interactions(evidence_of(space, ran)) is None


def test_many_trials_are_an_even_part_of_them() -> None:
    many = evidence(200)
    found = shares(many)
    assert found is not None
    assert found.note == f"From a Gaussian process of 128 of {len(many.ranked)} trials."


def test_the_size_of_an_effect_has_two_errors() -> None:
    effect = Effect(np.array([0, 1.0]), np.array([0.1, 0.5]), np.array([0.03, 0.04]), 0.01)
    assert effect_size(effect) == pytest.approx((0.4, 0.1))
