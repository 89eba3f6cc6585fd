"""What is said of stability; the sentences of its verdicts are tested with the probe."""

from __future__ import annotations

import math

import pytest

from simulated_probes import results_of, subject_of
from simulated_remedies import BROKEN
from tunebook.core.findings import Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric
from tunebook.procedures.stability.probe import QUESTION
from tunebook.procedures.stability.words import lacking, undecided, unseen
from tunebook.procedures.sweeps import Sweep, judged, mean_loss, readings_of

SUBJECT = subject_of({"lr": 0.1}, Knobs(learning_rate="lr"))


def swept(scores: dict[float, float]) -> Sweep:
    return Sweep("lr", dict.fromkeys(scores, ()), scores)


@pytest.mark.parametrize(
    ("scores", "said", "advice"),
    [
        (
            {0.1: 0.3, 0.2: 0.4},
            "The best lr, 0.1, is the lowest of those tried, from 0.1 to 0.2",
            "lr=0.1",
        ),
        ({0.1: 0.4, 0.2: 0.3}, "The best lr, 0.2, is the highest of those tried", "lr=0.2"),
        ({0.1: math.inf, 0.2: math.inf}, "No lr from 0.1 to 0.2 works.", "lr=0.001"),
    ],
)
def test_no_best_rate_is_unknown(scores: dict[float, float], said: str, advice: str) -> None:
    found = undecided(QUESTION, SUBJECT, swept(scores))
    assert found.verdict is Verdict.UNKNOWN
    assert found.sentence.startswith(said) and advice in found.advice


def test_rates_that_all_broke_are_to_be_looked_at() -> None:
    study = SUBJECT.stage("sweep", {"lr": [0.1, 0.2]}, goal="?")
    made = judged(results_of(study, lambda *_: BROKEN), "lr", mean_loss(Metric("valid/error")))
    found = undecided(QUESTION, SUBJECT, made)
    assert found.verdict is Verdict.UNKNOWN
    assert found.sentence == "No trial ended: all of 2 rates broke for other reasons than lr."
    assert found.advice == (
        f"Look at one of them, tunebook show {study.name} 1; then probe again with --retry-failed."
    )


def test_too_few_points_are_unknown_with_what_would_show_them() -> None:
    found = unseen(QUESTION, SUBJECT, swept({0.1: 0.3}), ())
    assert found.verdict is Verdict.UNKNOWN and "no loss has 20 points" in found.sentence
    assert "eval_interval: eval_every" in found.advice


def test_short_trainings_that_broke_are_to_be_looked_at() -> None:
    study = SUBJECT.stage("short", {"lr": [0.1, 0.2]}, goal="?")
    short = readings_of(results_of(study, lambda *_: BROKEN))
    found = unseen(QUESTION, SUBJECT, swept({0.1: 0.3}), short)
    assert found.sentence == (
        "The best lr is 0.1, but 2 of 2 short trainings broke (ModuleNotFoundError: no module "
        "named 'x'): what goes on above it is not seen."
    )
    assert found.advice == (
        f"Look at one of them, tunebook show {study.name} 1; then probe again with --retry-failed."
    )


def test_a_norm_that_is_named_must_be_logged() -> None:
    subject = subject_of({"lr": 0.1}, Knobs(learning_rate="lr", grad_norm="norm"))
    study = subject.stage("short", {"lr": [0.1]}, goal="?")
    assert lacking(subject, results_of(study, lambda c, s, n: {"norm": [1.0]})) == ()
    (found,) = lacking(subject, results_of(study, lambda c, s, n: {"loss": [1.0]}))
    assert found.sentence.startswith("No trial logged norm, the norm of the gradient")
