"""Models are fitted once, and are of what may be modelled."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from hostile_evidence import Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.domains import Float
from tunebook.core.space import Space
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.surfaces import MOST_MODELLED, surface, tuned, whole


def test_a_model_is_fitted_once_and_forgotten_with_its_evidence() -> None:
    evidence = gather(draw(Plan(trials=10, dimensions=1, evaluations=8)))
    assert tuned(evidence) is tuned(evidence)
    assert surface(evidence.arms[0]) is surface(evidence.arms[0])
    gone = weakref.ref(evidence.arms[0])
    del evidence
    gc.collect()
    assert gone() is None


def test_settings_with_few_results_are_not_modelled() -> None:
    assert tuned(evidence_of(Space(), [Ran({}, 0.1)] * 7)) is None
    assert tuned(evidence_of(Space(), [])) is None


def test_of_many_trials_the_best_are_kept() -> None:
    ran = [Ran({"x": i / 499}, 1 - i / 499) for i in range(500)]
    data = whole(evidence_of(Space.of(nuisance={"x": Float(0, 1)}), ran))
    assert data.points.shape == (MOST_MODELLED, 1)
    assert np.sum(data.losses < 64 / 499) == 64


def test_where_nothing_is_searched_there_is_one_place() -> None:
    models = tuned(evidence_of(Space(), [Ran({}, 0.1 + 0.01 * (i % 3)) for i in range(12)]))
    assert models is not None
    assert models.contest.remaining_gains[0] == pytest.approx(0.0, abs=1e-4)


def test_dust_is_zero() -> None:
    evidence = evidence_of(Space(), [Ran({}, 1e-160 * i) for i in range(12)])
    assert set(whole(evidence).losses) == {0.0}
    assert tuned(evidence) is not None
