"""Curves: the best on top, diverged trials that visibly end, spikes that stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hostile_evidence import COMPLETE, DIVERGED, METRIC, Ran, evidence_of
from tunebook.charts.curves import LINE_POINTS, MOST_LINES, training_curves
from tunebook.charts.figures import Figure, Line, Points
from tunebook.core.curves import Curve
from tunebook.core.knobs import Knobs
from tunebook.core.space import Setting, Space

SPACE = Space.of(fixed={"a": 1})
KNOBS = Knobs(train_loss="loss", grad_norm="norm")


def ran(values: Sequence[float], **other: Curve) -> Ran:
    curve = Curve.of(np.arange(1, len(values) + 1) * 10, values)
    diverged = not np.isfinite(values[-1])
    return Ran(curves={METRIC: curve, **other}, outcome=DIVERGED if diverged else COMPLETE)


def drawn(trials: Sequence[Ran], space: Space = SPACE) -> Figure:
    made = training_curves(evidence_of(space, trials, knobs=KNOBS))
    assert made is not None
    return made


def lines(figure: Figure, weight: str, panel: int = 0) -> list[Line]:
    found = [mark for mark in figure.panels[panel].marks if isinstance(mark, Line)]
    return [line for line in found if line.weight == weight]


def test_the_best_three_are_strong_and_drawn_last() -> None:
    figure = drawn([ran([0.9, value]) for value in (0.5, 0.2, 0.4, 0.3)])
    assert [line.name for line in lines(figure, "strong")] == ["trial 2", "trial 4", "trial 3"]
    assert [line.label for line in lines(figure, "faint")] == ["trial 1: 0.5"]
    assert isinstance(figure.panels[0].marks[-1], Line)
    assert figure.panels[0].marks[-1].weight == "strong"


def test_a_diverged_trial_ends_in_a_cross() -> None:
    figure = drawn([ran([0.9, 0.5]), ran([0.9, 0.8, np.nan, np.nan])])
    (faint,) = lines(figure, "faint")
    assert faint.dashed
    assert faint.x.tolist() == [10, 20]
    (cross,) = [mark for mark in figure.panels[0].marks if isinstance(mark, Points)]
    assert cross.crosses
    assert (cross.x.tolist(), cross.y.tolist()) == ([20], [0.8])
    assert figure.sentence.endswith("1 infeasible trial, dashed, ends in a cross.")


def test_a_gap_inside_a_curve_breaks_the_line() -> None:
    (line,) = lines(drawn([ran([0.9, np.inf, 0.5])]), "strong")
    assert np.isnan(line.y).tolist() == [False, True, False]


def test_validation_and_training_stand_together() -> None:
    more = {name: Curve.of([10], [1.0]) for name in ("loss", "norm", "b", "c", "d")}
    figure = drawn([ran([0.9, 0.5], **more)])
    assert [panel.title for panel in figure.panels] == [METRIC, "loss", "b", "c"]
    assert "Also logged: d." in figure.note


def test_an_outlier_among_infeasible_trials_does_not_set_the_scale() -> None:
    axis = drawn([ran([0.9, 0.5]), ran([0.9, 1e12, np.nan])]).panels[0].y
    assert (axis.scale, axis.low, axis.high) == ("linear", None, 1.1)


def test_long_curves_keep_their_spike_and_say_so() -> None:
    values = np.full(5000, 0.5)
    values[3333] = 7.0
    figure = drawn([ran(values)])
    (line,) = lines(figure, "strong")
    assert len(line.x) <= LINE_POINTS
    assert line.y.max() == 7.0
    assert f"Lines show {len(line.x)} of 5000 points" in figure.note


def test_many_trials_are_a_spread_over_the_ranks() -> None:
    figure = drawn([ran([0.9, 0.1 + i / 1000]) for i in range(400)])
    faint = [line.y[-1] for line in lines(figure, "faint")]
    assert len(faint) == MOST_LINES
    assert min(faint) < 0.11 and max(faint) > 0.49
    assert figure.note.startswith(
        "103 of 400 trials are drawn: the best 3 and an even spread over the rest."
    )


def test_with_settings_the_best_of_each_is_strong() -> None:
    space = Space.of(scientific={"m": ["a", "b"]})
    trials = [
        Ran(value=value, setting=Setting((("m", name),)))
        for name, value in (("a", 0.3), ("a", 0.1), ("b", 0.2), ("b", 0.4))
    ]
    strong = lines(drawn(trials, space), "strong")
    assert [(line.name, line.group) for line in strong] == [("m=a", 0), ("m=b", 1)]


def test_the_sentence_has_the_numbers() -> None:
    assert drawn([ran([0.9, 0.2, 0.3]), ran([0.9, 0.4])]).sentence == (
        f"The best, trial 1 ({METRIC} 0.2), has its result at step 20 and ends at 0.3; "
        "the median of 2 trials is 0.3."
    )


def test_nothing_logged_gives_nothing() -> None:
    assert training_curves(evidence_of(SPACE, [Ran()])) is None
    assert training_curves(evidence_of(SPACE, [ran([np.nan])])) is None
