"""No curve makes a question raise, warn, or say something that is no number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from small_studies import evidence_of
from tunebook.core.curves import Curve
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Finding, Verdict
from tunebook.core.knobs import Knobs
from tunebook.diagnosis.clipping import clipping
from tunebook.diagnosis.late_variance import late_variance
from tunebook.diagnosis.overfitting import overfitting
from tunebook.diagnosis.periodicity import periodicity
from tunebook.diagnosis.progress import improving, saturated
from tunebook.diagnosis.replication import trial_variance
from tunebook.diagnosis.spikes import spikes
from tunebook.diagnosis.stability import stability
from tunebook.diagnosis.step_budget import step_budget
from tunebook.diagnosis.training_loss import training_loss
from tunebook.diagnosis.validation import validation_size
from tunebook.diagnosis.warmup import warmup

QUESTIONS: tuple[Callable[[Evidence], Finding], ...] = (
    stability,
    spikes,
    training_loss,
    clipping,
    warmup,
    overfitting,
    improving,
    saturated,
    step_budget,
    late_variance,
    validation_size,
    periodicity,
    trial_variance,
)
KNOBS = Knobs(
    learning_rate="lr",
    train_loss="loss",
    grad_norm="norm",
    clipping="clip",
    warmup_steps="warmup",
    valid_examples=100,
)
NUMBERS = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([0.0, 0.5, 1e30, -1e30, 1e-30, np.nan, np.inf, -np.inf]),
)


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """Short and long ones, constant ones, with irregular steps and values that are no numbers."""
    size = draw(st.sampled_from([0, 1, 2, 3, 8, 12, 25, 60]))
    kind = draw(st.sampled_from(["drawn", "constant", "noise", "line"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    if kind == "constant":
        values = np.full(size, draw(st.floats(-1, 1)))
    elif kind == "line":
        values = draw(st.floats(-1, 1)) + draw(st.floats(-0.1, 0.1)) * np.arange(size)
    else:
        values = rng.normal(size=size)
    for place in draw(st.lists(st.integers(0, 59), max_size=6)) if kind == "drawn" else ():
        if place < size:
            values[place] = draw(NUMBERS)
    gaps = rng.integers(1, draw(st.sampled_from([2, 40])), size=size)
    return Curve.of(draw(st.integers(-5, 5)) + np.cumsum(gaps), values)


TRIALS = st.lists(
    st.fixed_dictionaries({"valid/error": curves(), "loss": curves(), "norm": curves()}),
    max_size=7,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(TRIALS, st.sampled_from(["lower", "higher"]), st.booleans())
def test_every_question_answers(trials: list[dict[str, Curve]], better: str, equal: bool) -> None:
    evidence = evidence_of(
        trials,
        rates=[0.1] * len(trials) if equal else None,
        better=better,  # type: ignore[arg-type]
        knobs=KNOBS,
        fixed={"clip": 1.0, "warmup": 3},
    )
    for question in QUESTIONS:
        said = question(evidence)
        assert said.sentence
        assert all(claim.p is None or 0.0 <= claim.p <= 1.0 for claim in said.claims)
        assert "nan" not in said.sentence.lower().split()
        assert said.verdict is not Verdict.UNKNOWN or said.advice


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.__name__)
def test_a_study_without_trials_is_unknown(question: Callable[[Evidence], Finding]) -> None:
    said = question(evidence_of([], knobs=KNOBS, fixed={"clip": 1.0, "warmup": 3}))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice
