"""What a sweep says of the steps in which the training set is fitted."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from simulated_probes import Made, results_of, subject_of
from tunebook.core.evidence import Standing
from tunebook.core.knobs import Knobs
from tunebook.core.space import Config
from tunebook.procedures.steps.fitted import Fitted
from tunebook.procedures.steps.fitting import Fit, needed
from tunebook.procedures.sweeps import Sweep, judged

FIT = Fit("train/error", 0.0, {}, smooth=False)


def fits(*ends: int, floor: float = 0.0, most: int = 100) -> Fitted:
    """Trials at one rate whose error is down after so many steps, one for each."""
    subject = subject_of({"lr": 0.1}, Knobs(learning_rate="lr"), steps=most)
    study = subject.stage("sweep", {"lr": [0.1]}, goal="?", replicates=len(ends))
    left = iter(ends)

    def train(config: Config, seed: int, steps: int) -> Made:
        error = np.maximum(1 - np.arange(1, steps + 1) / next(left), floor)
        return {"train/error": error, "valid/error": error}

    return Fitted(judged(results_of(study, train), "lr", needed(FIT, most)), FIT, most)


def test_the_interval_holds_every_seed() -> None:
    found = fits(20, 40)
    assert found.interval == (19, 40)
    assert found.fitting == (2, 2)
    assert found.left == 0.0


def test_one_seed_that_does_not_fit_leaves_no_interval() -> None:
    found = fits(20, 400)
    assert found.interval is None
    assert found.fitting == (1, 2)
    assert found.course == "falling" and found.left == pytest.approx(0.76, abs=0.01)


def test_what_broke_says_nothing_of_its_rate() -> None:
    found = fits(20, 400, 500)
    (good, slow, other) = found.best
    broken = replace(slow, standing=Standing.BROKEN), replace(other, standing=Standing.BROKEN)
    made = replace(found.sweep, readings={0.1: (good, *broken)})
    found = replace(found, sweep=made)
    assert found.best == (good,) and found.broken == (2, 3)
    assert found.fitting == (1, 1) and found.interval == (19, 20) and found.left == 0.0


def test_what_falls_no_further() -> None:
    found = fits(20, 20, floor=0.3)
    assert found.interval is None and found.course == "level"
    assert found.left == pytest.approx(0.3)


def test_without_a_best_rate_nothing_is_known() -> None:
    found = Fitted(Sweep("lr", {}, {}), FIT, 100)
    assert (found.best, found.interval, found.fitting) == ((), None, (0, 0))
    assert found.left == math.inf and found.course == "unclear"
