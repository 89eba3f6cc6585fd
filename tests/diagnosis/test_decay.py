"""Whether the learning rate falls at the end: by its curve, or by its schedule."""

from __future__ import annotations

import numpy as np
import pytest

from small_studies import evidence_of
from tunebook.diagnosis.decay import decays


@pytest.mark.parametrize(
    ("rates", "falls"),
    [
        (np.linspace(1.0, 0.0, 40), True),
        (np.concatenate([np.linspace(1.0, 0.1, 20), np.full(20, 0.1)]), False),
        (np.linspace(0.0, 1.0, 40), False),
    ],
)
def test_a_logged_rate_tells_more_than_the_name_of_its_schedule(
    rates: np.ndarray, falls: bool
) -> None:
    evidence = evidence_of(
        [{"valid/error": [0.1], "train/lr": rates}], fixed={"schedule": "cosine"}
    )
    assert decays(evidence, evidence.readings[0], 0.25) is falls


@pytest.mark.parametrize("name", ["colr", "valid/flr", "lr_scale"])
def test_other_names_are_no_rate(name: str) -> None:
    evidence = evidence_of([{"valid/error": [0.1], name: np.linspace(1.0, 0.0, 40)}])
    assert not decays(evidence, evidence.readings[0], 0.25)
