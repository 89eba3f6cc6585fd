"""The picture of steps: how many each rate needed, and which did not fit."""

from __future__ import annotations

import numpy as np

from simulated_probes import Made, results_of, subject_of
from tunebook.charts.figures import Points, Rule
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config
from tunebook.procedures.steps.fitted import Fitted
from tunebook.procedures.steps.fitting import Fit, needed
from tunebook.procedures.steps.pictures import picture
from tunebook.procedures.steps.probe import QUESTION
from tunebook.procedures.sweeps import Sweep, judged

FIT = Fit("train/error", 0.0, {}, smooth=False)


def train(config: Config, seed: int, steps: int) -> Made:
    reached = 20 if float(config["lr"] or 0) < 0.5 else 1000
    error = np.maximum(1 - np.arange(1, 101) / reached, 0)
    return {"train/error": error, "valid/error": error}


def test_steps_and_what_did_not_fit() -> None:
    subject = subject_of({"lr": 0.1}, Knobs(learning_rate="lr"), steps=100)
    study = subject.stage("sweep", {"lr": [0.1, 0.3, 1.0]}, goal="?")
    made = judged(results_of(study, train), "lr", needed(FIT, 100))
    (figure,) = picture(QUESTION, Fitted(made, FIT, 100))
    done, lost, rule = figure.panels[0].marks
    assert isinstance(done, Points) and done.y.tolist() == [20, 20]
    assert isinstance(lost, Points) and lost.crosses and lost.y.tolist() == [100]
    assert isinstance(rule, Rule) and rule.at == 0.1 and rule.name == "fastest, 0.1"
    assert figure.sentence == "2 trials of 3 fit the training set (train/error 0) within 100 steps."
    assert figure.panels[1].title == "train/error of the fastest and its neighbours"
    assert [row[1] for row in figure.table.rows] == ["20", "20", "not fitted"]


def test_what_fits_nowhere_has_no_fastest() -> None:
    subject = subject_of({"lr": 0.1}, Knobs(learning_rate="lr"), steps=100)
    study = subject.stage("sweep", {"lr": [0.6, 1.0]}, goal="?")
    made = judged(results_of(study, train), "lr", needed(FIT, 100))
    (figure,) = picture(QUESTION, Fitted(made, FIT, 100))
    rule = figure.panels[0].marks[-1]
    assert isinstance(rule, Rule) and rule.name == "lowest, 0.6"
    assert figure.sentence == (
        "0 trials of 2 fit the training set (train/error 0) within 100 steps. The lowest "
        "train/error at the end is that of 0.6."
    )
    assert figure.panels[1].title == "train/error of the lowest and its neighbours"


def test_nothing_tried_nothing_drawn() -> None:
    assert picture(QUESTION, Fitted(Sweep("lr", {}, {}), FIT, 100)) == ()
