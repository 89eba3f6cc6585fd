"""Early and sudden divergence are told apart by the loss."""

from __future__ import annotations

import numpy as np
import pytest

from small_studies import evidence_of, falling
from tunebook.core.evidence import Standing
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.diagnosis.onset import manner_of

DONE = Outcome(OutcomeKind.COMPLETE, "finished")
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "loss is NaN", Cause.DIVERGED)
SOUND = {"valid/error": falling(), "train/loss": falling()}


@pytest.mark.parametrize(
    ("curve", "manner"),
    [
        (falling()[:3], "early"),
        (falling()[:40], "sudden"),
        (np.full(40, 0.9), "early"),
        (np.concatenate([falling()[:40], [np.nan] * 20]), "sudden"),
        (np.full(60, np.nan), "early"),
    ],
)
def test_a_trial_that_learnt_broke_suddenly(curve: np.ndarray, manner: str) -> None:
    for trial in ({"valid/error": curve}, {"valid/error": [0.9], "train/loss": curve}):
        evidence = evidence_of([SOUND, SOUND, trial], outcomes=[DONE, DONE, DIVERGED])
        assert manner_of(evidence, evidence.only(Standing.INFEASIBLE)) == manner


def test_most_trials_decide() -> None:
    late, early = {"valid/error": falling()[:40]}, {"valid/error": falling()[:2]}
    evidence = evidence_of([SOUND, late, late, early], outcomes=[DONE] + [DIVERGED] * 3)
    assert manner_of(evidence, evidence.only(Standing.INFEASIBLE)) == "sudden"


def test_without_curves_nothing_is_told() -> None:
    evidence = evidence_of([SOUND, {}], outcomes=[DONE, DIVERGED])
    assert manner_of(evidence, evidence.only(Standing.INFEASIBLE)) is None
    nobody = evidence_of([{}, {}], outcomes=[DIVERGED, DIVERGED])
    assert manner_of(nobody, nobody.readings) is None
