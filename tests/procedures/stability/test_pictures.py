"""The picture of stability: the sweep, the best rate, and every step of short trainings."""

from __future__ import annotations

import numpy as np

from simulated_probes import Made, results_of, subject_of
from tunebook.charts.figures import Rule
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.procedures.stability.pictures import picture
from tunebook.procedures.stability.probe import QUESTION
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import Sweep, judged, mean_loss


def train(config: Config, seed: int, steps: int) -> Made:
    rate = float(config["lr"] or 0)
    if rate > 0.5:
        return Outcome(OutcomeKind.INFEASIBLE, "NaN")
    return {"valid/error": rate + np.linspace(1, 0, 30), "grad_norm": np.ones(30)}


def swept() -> tuple[Subject, Sweep]:
    subject = subject_of({"lr": 0.1}, Knobs(learning_rate="lr", grad_norm="grad_norm"))
    study = subject.stage("sweep", {"lr": [0.1, 0.3, 1.0]}, goal="?", replicates=2)
    return subject, judged(results_of(study, train), "lr", mean_loss(study.objective.metric))


def test_the_sweep_alone() -> None:
    subject, made = swept()
    (figure,) = picture(QUESTION, subject, made)
    (panel,) = figure.panels
    assert [rule.at for rule in panel.marks if isinstance(rule, Rule)] == [0.1, 0.2]
    assert figure.sentence == (
        "Of lr from 0.1 to 1, 0.1 is best. 2 trials without a result are crossed."
    )
    assert len(figure.table.rows) == 6


def test_with_short_trainings() -> None:
    subject, made = swept()
    short = {1: made.readings[0.1], 2: made.readings[0.3]}
    (figure,) = picture(QUESTION, subject, made, short, Metric("valid/error"))
    assert [panel.title for panel in figure.panels][1:] == [
        "valid/error at every step",
        "grad_norm at every step",
    ]
    assert figure.table.rows[-1][0] == "2 times, every step"


def test_nothing_ended_nothing_drawn() -> None:
    subject, _ = swept()
    assert picture(QUESTION, subject, Sweep("lr", {}, {})) == ()
