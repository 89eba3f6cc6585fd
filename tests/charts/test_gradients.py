"""Gradient norms by step and as a histogram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from hostile_evidence import DIVERGED, METRIC, Ran, evidence_of
from tunebook.charts.figures import Band, Bars, Figure, Line, Rule
from tunebook.charts.gradients import norm_by_step, norm_histogram
from tunebook.core.curves import Curve
from tunebook.core.evidence import Evidence
from tunebook.core.knobs import Knobs
from tunebook.core.space import Space

SPACE = Space.of(fixed={"clip": 2.0})


def ran(norms: Sequence[float], value: float = 0.1, diverged: bool = False) -> Ran:
    steps = np.arange(1, len(norms) + 1)
    curves = {METRIC: Curve.of([1], [value]), "norm": Curve.of(steps, norms)}
    return Ran(curves=curves, outcome=DIVERGED) if diverged else Ran(curves=curves)


def evidence(*trials: Ran, **knobs: str) -> Evidence:
    return evidence_of(SPACE, trials, knobs=Knobs(grad_norm="norm", **knobs))  # type: ignore[arg-type]


def one(figure: Figure | None, kind: type) -> list:
    assert figure is not None
    return [mark for mark in figure.panels[0].marks if isinstance(mark, kind)]


def test_a_band_of_all_trials_with_the_best_on_top() -> None:
    figure = norm_by_step(evidence(*(ran([i, i, i], 0.1 * i) for i in range(1, 6))))
    (band,) = one(figure, Band)
    assert band.low == pytest.approx([1.4] * 3)
    assert band.high == pytest.approx([4.6] * 3)
    assert [line.name for line in one(figure, Line)] == ["median", "trial 1", "trial 2", "trial 3"]


def test_the_sentence_tells_the_largest_norm() -> None:
    figure = norm_by_step(evidence(ran([1, 1, 1]), ran([1, 50, 1], 0.2)))
    assert figure is not None
    assert figure.sentence == (
        "The best trial, 1, has a median gradient norm of 1; the largest norm of 2 trials, 50, "
        "is that of trial 2 at step 2."
    )


def test_infeasible_trials_do_not_count() -> None:
    figure = norm_histogram(evidence(ran([1, 2, 3]), ran([1e9], diverged=True)))
    (bars,) = one(figure, Bars)
    assert bars.right.max() == pytest.approx(3)


def test_the_histogram_has_all_norms_and_the_90th_percentile() -> None:
    norms = np.arange(1, 101)
    figure = norm_histogram(evidence(ran(norms)))
    (bars,) = one(figure, Bars)
    assert bars.top.sum() == pytest.approx(100)
    (rule,) = one(figure, Rule)
    assert rule.at == pytest.approx(np.quantile(norms, 0.9))
    assert figure is not None
    assert figure.panels[0].x.scale == "log"
    assert figure.sentence == "Half of the gradient norms lie below 50.5, 90% below 90.1."


def test_the_clipping_of_the_best_trial_is_a_rule() -> None:
    figure = norm_histogram(evidence(ran([1, 1, 1, 5]), clipping="clip"))
    assert [rule.at for rule in one(figure, Rule)][1] == 2.0
    assert figure is not None
    assert figure.sentence.endswith("clipped at 2, which 25% of its norms exceed.")


@pytest.mark.parametrize("norms", [[3.0, 3.0], [0.0, 0.0], [0.0, 5.0], [np.nan, 1.0, np.inf]])
def test_odd_norms_have_a_histogram(norms: list[float]) -> None:
    (bars,) = one(norm_histogram(evidence(ran(norms))), Bars)
    assert np.all(bars.left < bars.right)
    assert bars.top.sum() == pytest.approx(100)


def test_of_long_curves_only_the_best_is_drawn() -> None:
    figure = norm_by_step(evidence(*(ran(np.ones(500), 0.1 * i) for i in range(1, 4))))
    assert [line.name for line in one(figure, Line)] == ["median", "trial 1"]


def test_the_usual_name_is_known() -> None:
    curves = {METRIC: Curve.of([1], [0.1]), "grad_norm": Curve.of([1, 2], [1.0, 2.0])}
    assert norm_by_step(evidence_of(SPACE, [Ran(curves=curves)])) is not None


def test_without_norms_there_is_none() -> None:
    unlogged = evidence(Ran(value=0.1))
    assert norm_by_step(unlogged) is None and norm_histogram(unlogged) is None
    assert norm_by_step(evidence(ran([np.nan]))) is None
