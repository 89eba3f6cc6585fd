"""The model of all results: tests, shares, and what it predicts."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.domains import Float
from tunebook.core.space import Space
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.surfaces import whole
from tunebook.diagnosis.weights import weigh

ONE_MATTERS = {"learning_rate": 1.0, "weight_decay": 0.0}


@pytest.mark.parametrize("settings", [1, 2])
def test_what_matters_is_found_though_settings_share_points(settings: int) -> None:
    plan = Plan(seed=5, dimensions=2, evaluations=8, settings=settings, weights=ONE_MATTERS)
    evidence = gather(draw(plan))
    model = weigh(evidence, whole(evidence))
    found = {one.name: one.matters for one in model.weights}
    assert found["learning_rate"]
    assert not found["weight_decay"]
    assert model.predicted > 0.8


def test_a_model_is_made_once() -> None:
    evidence = gather(draw(Plan(trials=12, dimensions=1, evaluations=8)))
    assert weigh(evidence, whole(evidence)) is weigh(evidence, whole(evidence))


def test_noise_is_not_predicted() -> None:
    rng = np.random.default_rng(0)
    ran = [Ran({"x": float(x)}, float(y)) for x, y in rng.uniform(size=(32, 2))]
    evidence = evidence_of(Space.of(nuisance={"x": Float(0, 1)}), ran)
    assert weigh(evidence, whole(evidence)).predicted < 0.3
