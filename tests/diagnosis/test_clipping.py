"""Clipping: the share of clipped updates, and the threshold to try."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import Plan, draw
from small_studies import evidence_of
from tunebook.core.domains import Value
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.clipping import clipping
from tunebook.diagnosis.gathering import gather

KNOBS = Knobs(clipping="clip", grad_norm="norm")
NORMS = np.exp(0.3 * np.random.default_rng(0).normal(size=200))


def clipped_at(threshold: Value, norms: np.ndarray = NORMS) -> Evidence:
    trial = {"valid/error": [0.1], "norm": norms}
    return evidence_of([trial], knobs=KNOBS, fixed={"clip": threshold})


def test_a_threshold_above_most_norms_is_good() -> None:
    said = clipping(clipped_at(2.0))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("In the best trials at most ")
    assert said.sentence.endswith("% of the logged updates are clipped.")


def test_a_threshold_below_most_norms_is_a_problem() -> None:
    said = clipping(clipped_at(0.8))
    to_try = float(np.quantile(NORMS, 0.9))
    assert said.verdict is Verdict.PROBLEM
    assert "of 200 logged updates reach clip = 0.8: clipping sets the size of most" in said.sentence
    assert said.advice == (
        f"Lower the learning rate and try clip = {to_try:.4g}, the 90th percentile of the norms."
    )
    assert said.numbers["to_try"] == pytest.approx(to_try)


def test_norms_logged_after_clipping_hide_their_percentile() -> None:
    said = clipping(clipped_at(0.5, np.minimum(NORMS, 0.5)))
    assert said.verdict is Verdict.PROBLEM
    assert "log norm before clipping" in said.advice


def test_the_threshold_to_try_is_that_of_norms_before_the_blow_up() -> None:
    blown = np.concatenate([NORMS, 1e6 * np.ones(100), [np.nan]])
    said = clipping(clipped_at(2.0, blown))
    assert said.numbers["to_try"] == pytest.approx(float(np.quantile(NORMS, 0.9)), rel=0.05)
    assert said.verdict is Verdict.GOOD


@pytest.mark.parametrize("off", [0, None, False, 0.0])
def test_where_nothing_is_clipped_a_threshold_is_offered(off: Value) -> None:
    said = clipping(clipped_at(off))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("Nothing is clipped in the best trials. The 90th percentile")


def test_the_planted_fault_is_found_and_its_twin_is_calm() -> None:
    assert clipping(gather(draw(Plan(clipping=0.8)))).verdict is Verdict.PROBLEM
    assert clipping(gather(draw(Plan(clipping=1.5)))).verdict is Verdict.GOOD


def test_what_is_missing_is_named() -> None:
    nothing = clipping(evidence_of([{"valid/error": [0.1]}], knobs=KNOBS, fixed={"clip": 1.0}))
    assert nothing.verdict is Verdict.UNKNOWN
    assert nothing.advice == "Log norm, which the knob grad_norm names: no trial has logged it."
    few = clipping(clipped_at(1.0, NORMS[:10]))
    assert few.sentence == "The best trials logged too few values of norm."
    unnamed = clipping(
        evidence_of([{"valid/error": [0.1], "norm": NORMS}], knobs=Knobs(grad_norm="norm"))
    )
    assert unnamed.verdict is Verdict.UNKNOWN
    assert unnamed.advice.startswith("Name it under knobs: clipping.")
    assert "is a threshold to try" in unnamed.advice
