"""Best so far, and the best of k with its band."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import DIVERGED, Ran, evidence_of
from tunebook.charts.figures import Band, Figure, Line
from tunebook.charts.progress import MOST_FOR_BAND, best_of_k_plot, best_so_far
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Space
from tunebook.stats.best_of_k import best_of_k

SPACE = Space.of(nuisance={"a": Float(0, 1)})


def evidence(values: list[float | None], better: str = "lower", adaptive: int = 0) -> Evidence:
    ran = [
        Ran({"a": 0.5}, outcome=DIVERGED) if value is None else Ran({"a": 0.5}, value)
        for value in values
    ]
    ran += [Ran({"a": 0.5}, 0.001, adaptive=True)] * adaptive
    return evidence_of(SPACE, ran, Objective(Metric("score", better)))  # type: ignore[arg-type]


def line(figure: Figure | None) -> Line:
    assert figure is not None
    (found,) = [mark for mark in figure.panels[0].marks if isinstance(mark, Line)]
    return found


def test_the_best_so_far_is_a_stair_to_the_last_trial() -> None:
    figure = best_so_far(evidence([0.3, 0.4, 0.2, None, 0.25]))
    stairs = line(figure)
    assert stairs.steps
    assert stairs.x.tolist() == [1, 3, 5]
    assert stairs.y.tolist() == [0.3, 0.2, 0.2]
    assert figure is not None
    assert figure.sentence == (
        "The best is trial 3 (score 0.2); 2 trials since then found nothing better. "
        "1 infeasible trial is a cross at the top."
    )
    assert figure.table.rows == (("1", "all", "0.3"), ("3", "all", "0.2"))


def test_the_best_so_far_may_rise() -> None:
    figure = best_so_far(evidence([0.3, 0.2, 0.4], "higher"))
    assert line(figure).y.tolist() == [0.3, 0.4, 0.4]
    assert figure is not None
    assert figure.sentence == "The best is trial 3 (score 0.4); it is the latest result."


@pytest.mark.parametrize(("better", "sign"), [("lower", 1.0), ("higher", -1.0)])
def test_the_best_of_k_is_that_of_the_statistics(better: str, sign: float) -> None:
    values = [0.5, 0.1, 0.4, 0.2, 0.3, 0.6, 0.8, 0.7]
    figure = best_of_k_plot(evidence(list(values), better))
    expected = best_of_k(sign * np.array(values))
    assert figure is not None and expected is not None
    assert line(figure).y.tolist() == (sign * expected.quantile).tolist()
    (band,) = [mark for mark in figure.panels[0].marks if isinstance(mark, Band)]
    assert np.all(band.low <= line(figure).y) and np.all(line(figure).y <= band.high)
    assert band.low.min() >= 0.1 and band.high.max() <= 0.8


def test_infeasible_trials_count_as_worst() -> None:
    good = line(best_of_k_plot(evidence([0.1, 0.2, 0.3, 0.4])))
    bad = line(best_of_k_plot(evidence([0.1, 0.2, 0.3, 0.4, None, None, None, None])))
    assert good.y[0] == 0.2
    assert bad.y[0] == 0.4


def test_mostly_infeasible_trials_break_the_line_where_the_median_is_none() -> None:
    found = line(best_of_k_plot(evidence([0.1, 0.2, 0.3, *[None] * 7])))
    assert np.isnan(found.y[0]) and np.isfinite(found.y[-1])


def test_trials_chosen_by_results_are_left_out_and_said() -> None:
    figure = best_of_k_plot(evidence([0.3, 0.2, 0.4, 0.5], adaptive=3))
    assert line(figure).y.min() >= 0.2
    assert figure is not None
    assert "3 trials were chosen by results or repeated, and left out." in figure.note
    assert "as if random" in figure.note


def test_very_many_trials_rest_on_an_even_part_of_them() -> None:
    figure = best_of_k_plot(evidence(np.linspace(0.5, 1.0, MOST_FOR_BAND + 100).tolist()))
    assert len(line(figure).x) == MOST_FOR_BAND // 2
    assert figure is not None
    assert f"It rests on {MOST_FOR_BAND} of {MOST_FOR_BAND + 100} trials" in figure.note


def test_the_sentence_says_what_the_second_half_gained() -> None:
    figure = best_of_k_plot(evidence([0.5, 0.1, 0.4, 0.2, 0.3, 0.6, 0.8, 0.7]))
    assert figure is not None
    assert figure.sentence == "The median best of 4 trials is 0.1, 0.2 better than that of 2."


def test_too_few_results_give_nothing() -> None:
    assert best_of_k_plot(evidence([0.1])) is None
    assert best_of_k_plot(evidence([None, None])) is None
    assert best_so_far(evidence([None])) is None
