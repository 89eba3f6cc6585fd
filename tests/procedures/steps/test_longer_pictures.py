"""The picture of longer training: points, means, and the steps that are enough."""

from __future__ import annotations

from simulated_lengths import LOST, followed, improves
from tunebook.charts.figures import Line, Points, Rule
from tunebook.procedures.steps.longer_pictures import picture


def test_results_against_steps() -> None:
    made, _ = followed(improves(200, noise=0.0, by_seed=0.0))
    (figure,) = picture(made)
    trials, means, rule = figure.panels[0].marks
    assert isinstance(trials, Points) and len(trials.x) == 12
    assert isinstance(means, Line) and means.x.tolist() == [100, 200, 400]
    assert means.y.round(9).tolist() == [0.3, 0.28, 0.28]
    assert isinstance(rule, Rule) and rule.at == 200
    assert figure.key == "probe-steps-longer" and "100 steps to 4 times" in figure.sentence
    assert figure.table.rows[0] == ("100", "4", "0.3", "", "")
    assert figure.table.rows[1][:4] == ("200", "4", "0.28", "0.02")


def test_nothing_to_compare_nothing_drawn() -> None:
    assert picture(followed(improves(1e9), longest=150)[0]) == ()
    assert picture(followed(lambda config, seed, steps: LOST)[0]) == ()
