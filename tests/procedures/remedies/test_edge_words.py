"""What a sweep says of stability, and a comparison of a remedy, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from simulated_probes import Made, answered, results_of
from simulated_remedies import BROKEN, DIVERGED, Program, subject
from tunebook.core.findings import Question, Verdict
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.remedies.comparing import Comparison, Outcomes
from tunebook.procedures.remedies.edge import find_edge
from tunebook.procedures.remedies.edge_words import (
    edge_finding,
    gain_finding,
    not_adopted,
    not_to_be_cured,
    paying,
)
from tunebook.procedures.sweeps import readings_of

QUESTION = Question("probe-warmup", "Does it help?", "learning-rate-warmup")


def nothing_to_cure(train: object, start: float = 0.03) -> Answer:
    about = subject({"lr": start}, probe="warmup")

    def procedure() -> Procedure:
        edge = yield from find_edge(about, goal="?", steps=120)
        answer = not_to_be_cured(about, QUESTION, edge, "a warm-up")
        assert answer.findings[1] == edge_finding(about, edge)
        return answer

    return answered(procedure(), train)[0]  # type: ignore[arg-type]


def test_a_stable_program() -> None:
    first, edge = nothing_to_cure(Program(limit=1e6, optimum=0.03)).findings
    assert (first.verdict, edge.verdict) == (Verdict.GOOD, Verdict.GOOD)
    assert edge.sentence == "0.03 is the best learning rate; training is stable up to 0.95."


def test_rates_that_all_fail_are_a_bug() -> None:
    first, edge = nothing_to_cure(lambda *_: DIVERGED).findings
    assert first.verdict is Verdict.UNKNOWN
    assert edge.verdict is Verdict.PROBLEM
    assert edge.sentence == "No learning rate from 0.00095 to 0.95 works."
    assert first.advice == edge.advice == "Look for a bug in the program first."


def test_trials_that_all_broke_say_nothing_of_rates() -> None:
    first, edge = nothing_to_cure(lambda *_: BROKEN).findings
    assert (first.verdict, edge.verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
    assert edge.sentence.startswith("The trials of all of 7 learning rates broke")
    assert edge.advice == (
        "Look at one of them, tunebook show small.warmup.sweep 1; then probe again with "
        "--retry-failed."
    )


def test_a_best_rate_at_the_end_is_unknown_and_where_to_begin() -> None:
    first, _ = nothing_to_cure(Program(limit=1e6, optimum=1e-9)).findings
    assert first.verdict is Verdict.UNKNOWN
    assert "is the lowest that was tried" in first.sentence
    assert first.advice == "Begin there: tunebook probe warmup STUDY.yaml --set lr=9.5e-07 --again"


def test_a_loss_that_is_seen_too_rarely() -> None:
    first, edge = nothing_to_cure(Program(limit=1e6, optimum=0.03, every=20)).findings
    assert (first.verdict, edge.verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
    assert "no loss falls or has 20 values in 120 steps" in first.sentence
    assert first.advice == "Log train/loss at every step."
    assert "but how is not seen" in edge.sentence


def test_a_best_rate_that_is_unstable_itself() -> None:
    """Every training has a spike, whatever its rate."""

    def train(config: Config, seed: int, steps: int) -> Made:
        made = Program(limit=1e6, optimum=0.03)(config, seed, steps)
        assert isinstance(made, Mapping)
        loss = np.array(made["train/loss"].values)  # type: ignore[union-attr]
        loss[60:75] *= 20
        return {**made, "train/loss": loss}

    answer = nothing_to_cure(train)
    first, edge = answer.findings
    assert (first.verdict, edge.verdict) == (Verdict.WATCH, Verdict.WATCH)
    assert "0.03 is the best learning rate, and training is unstable there already" in edge.sentence
    assert first.sentence.startswith(
        "Training is unstable at the best learning rate already, 0.03 (train/loss rises by"
    )
    assert first.advice.endswith("tunebook probe clipping STUDY.yaml")
    assert answer.figures[0].sentence.endswith("and training is unstable there already.")


def test_the_picture_has_every_trial() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = Program(limit=0.2, optimum=0.01)(config, seed, steps)
        return DIVERGED if config["lr"] == 0.95 else made

    (figure,) = nothing_to_cure(train).figures
    assert figure.key == "probe-edge"
    assert len(figure.table.rows) == 14
    assert {row[3] for row in figure.table.rows} >= {"stable", "it diverged before its first value"}


def test_a_gain_that_may_be_luck_asks_for_more_seeds() -> None:
    about = subject({"lr": 0.03}, probe="warmup")
    study = about.listed("compare-before", [{}] * 3, goal="?")
    readings = readings_of(results_of(study, Program()))
    before = Outcomes((0.30, 0.34, 0.26), readings=readings)
    nearly = Comparison(Metric("error"), before, Outcomes((0.27, 0.29, 0.24)))
    assert nearly.p is not None and 0.025 < nearly.p < 0.2
    assert not_adopted(about, nearly) == (
        "That gain may be luck, and more seeds can tell: tunebook probe warmup STUDY.yaml "
        "--seeds 6 --again"
    )
    equal = Comparison(Metric("error"), before, before)
    assert not_adopted(about, equal) == "Training with it is no better: keep what you have."
    # Where it ended early, there was no hope that more of them could have told.
    left = "It is not shown to be better: keep what you have."
    assert not_adopted(about, replace(nearly, most=20)) == left
    assert not_adopted(about, replace(nearly, most=3)).endswith("--seeds 6 --again")
    by_rate = replace(
        nearly, after=Outcomes((0.1, 0.11, 0.12)), control=Outcomes((0.1, 0.11, 0.13))
    )
    assert paying(by_rate) is Verdict.WATCH
    assert not_adopted(about, by_rate) == (
        "At its learning rate, training without it is about as good: tune the rate again, and "
        "leave the rest as it is."
    )
    lost = replace(nearly, after=Outcomes((0.1, 0.1), lost=1))
    said = "Of 3 trainings with it 1 came to nothing: keep what you have."
    assert not_adopted(about, lost) == said


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ((0.1, 0.11, 0.12), Verdict.WATCH),
        ((0.29, 0.31, 0.33), Verdict.GOOD),
        ((0.1,), Verdict.UNKNOWN),
    ],
)
def test_something_is_to_be_changed_where_a_remedy_pays(
    after: tuple[float, ...], verdict: Verdict
) -> None:
    found = Comparison(Metric("error"), Outcomes((0.3, 0.31, 0.32)), Outcomes(after))
    assert paying(found) is verdict
    said = gain_finding(QUESTION, found, "the warm-up", "none", 0.3, 0.03)
    assert said.verdict is verdict
    assert said.sentence.startswith("A learning rate of 0.3 with the warm-up against 0.03 with no")
    assert ("p" in said.numbers) == (verdict is not Verdict.UNKNOWN)
