"""Panels that several probes draw: results against a parameter, and curves by group."""

from __future__ import annotations

import numpy as np

from simulated_probes import Made, results_of, subject_of
from tunebook.charts.figures import Line, Points, Rule
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.procedures.pictures import LINE_POINTS, curves_panel, sweep_panel, worst_end
from tunebook.procedures.sweeps import Sweep, judged, mean_loss

LOST = Outcome(OutcomeKind.INFEASIBLE, "NaN")


def train(config: Config, seed: int, steps: int) -> Made:
    rate = float(config["lr"] or 0)
    return LOST if rate > 0.5 else {"loss": rate + np.linspace(1, 0, 1000)}


def swept() -> Sweep:
    subject = subject_of({"lr": 0.1}, Knobs(learning_rate="lr"), metric="loss")
    study = subject.stage("sweep", {"lr": [0.1, 0.3, 1.0]}, goal="?", replicates=2)
    return judged(results_of(study, train), "lr", mean_loss(study.objective.metric))


def test_what_is_lost_stands_where_results_are_worst() -> None:
    assert worst_end(Metric("loss")) == np.inf == -worst_end(Metric("accuracy", "higher"))


def test_results_are_points_and_what_is_lost_is_crossed() -> None:
    panel = sweep_panel(swept(), "loss", rules=(Rule(0.1, "x", "best"),))
    points, crosses, rule = panel.marks
    assert isinstance(points, Points) and isinstance(crosses, Points) and isinstance(rule, Rule)
    assert points.x.tolist() == [0.1, 0.1, 0.3, 0.3] and not points.crosses
    assert crosses.crosses and crosses.x.tolist() == [1.0, 1.0]
    assert np.all(np.isinf(crosses.y)) and crosses.labels == ("1: NaN", "1: NaN")
    assert panel.x.scale == "log"


def test_a_sweep_without_results_has_crosses_alone() -> None:
    made = swept()
    lost = Sweep("lr", {1.0: made.readings[1.0]}, {1.0: np.inf})
    (crosses,) = sweep_panel(lost, "loss", bad=-np.inf).marks
    assert isinstance(crosses, Points) and np.all(crosses.y == -np.inf)


def test_curves_have_a_colour_and_a_name_for_each_group() -> None:
    made = swept()
    panel = curves_panel({"low": made.readings[0.1], "high": made.readings[0.3]}, "loss")
    assert panel is not None
    lines = [mark for mark in panel.marks if isinstance(mark, Line)]
    assert [(line.group, line.name) for line in lines] == [
        (0, "low"),
        (0, ""),
        (1, "high"),
        (1, ""),
    ]
    assert all(len(line.x) <= LINE_POINTS for line in lines)


def test_no_curve_no_panel() -> None:
    assert curves_panel({"all": swept().readings[0.1]}, "other") is None
