"""Infeasible trials: how many, where, and when they point to a bug."""

from __future__ import annotations

import numpy as np
import pytest

from hostile_evidence import COMPLETE, DIVERGED, Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.domains import Choice, Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.space import Space
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.infeasible import infeasible

SPACE = Space.of(
    nuisance={"rate": Float(1e-4, 1, log=True), "decay": Float(0, 1), "act": ["relu", "gelu"]}
)


def drawn(**plan: object) -> Evidence:
    return gather(draw(Plan(**{"seed": 3, "evaluations": 8, **plan})))  # type: ignore[arg-type]


def where(bad: object, n: int = 48, seed: int = 0) -> Evidence:
    """Trials at random places, infeasible where `bad(rate, decay, act)` says so."""
    points = np.random.default_rng(seed).uniform(size=(n, 3))
    ran = [
        Ran(
            dict(zip(("rate", "decay", "act"), map(float, point), strict=True)),
            0.2,
            outcome=DIVERGED if bad(*point) else COMPLETE,  # type: ignore[operator]
        )
        for point in points
    ]
    return evidence_of(SPACE, ran)


def test_a_healthy_study_is_calm() -> None:
    said = infeasible(drawn())
    assert (said.verdict, said.sentence) == (Verdict.GOOD, "None of 32 trials is infeasible.")


def test_a_few_beyond_a_threshold_are_the_price_of_a_wide_range() -> None:
    said = infeasible(drawn(cliff=0.8))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == (
        "7 of 32 trials (22%) are infeasible (diverged): all 7 with learning_rate above 0.023, and "
        "none of the others."
    )


@pytest.mark.parametrize(("cliff", "verdict"), [(0.6, Verdict.WATCH), (0.4, Verdict.PROBLEM)])
def test_many_beyond_a_threshold_ask_for_a_narrower_range(cliff: float, verdict: Verdict) -> None:
    said = infeasible(drawn(cliff=cliff))
    assert said.verdict is verdict
    assert "with learning_rate above" in said.sentence
    assert said.advice.startswith("Search learning_rate only up to 0.00")
    assert len(said.trials) == said.numbers["infeasible"]


def test_a_threshold_at_the_lower_side() -> None:
    said = infeasible(where(lambda rate, decay, act: rate < 0.4))
    assert "with rate below 0.0" in said.sentence
    assert said.advice.startswith("Search rate only from 0.0")


def test_a_value_that_does_not_work_is_named() -> None:
    said = infeasible(where(lambda rate, decay, act: act < 0.5))
    assert "with act relu, and none of the others" in said.sentence
    assert said.advice == "Leave out act relu."


def test_a_corner_of_two_is_found() -> None:
    said = infeasible(where(lambda rate, decay, act: rate > 0.4 and decay > 0.4, n=96))
    assert said.verdict is Verdict.WATCH
    assert "with rate above 0.0" in said.sentence
    assert "and decay above 0." in said.sentence
    assert said.advice.startswith("Search rate and decay so that this corner is left out")


def test_what_depends_on_no_parameter_is_a_bug() -> None:
    numbers = iter(range(100))
    said = infeasible(where(lambda rate, decay, act: next(numbers) % 4 == 0))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "12 of 48 trials (25%) are infeasible (valid/error is NaN), and no parameter has a say in "
        "it: a bug is suspected."
    )
    assert said.advice.startswith("Run trial 1 again with another seed")


def test_errors_whatever_the_parameters_are_a_bug() -> None:
    said = infeasible(drawn(failures=0.2))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "8 of 32 trials failed (ValueError), whatever their parameters: a bug is suspected."
    )
    assert said.advice.startswith("Read the traceback of trial ")


def test_when_every_trial_fails_it_is_a_problem() -> None:
    error = Outcome(OutcomeKind.FAILED, "ImportError: no module")
    said = infeasible(
        evidence_of(SPACE, [Ran({"rate": 0.5, "decay": 0.5, "act": 0}, None, None, error)] * 3)
    )
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence == "3 of 3 trials failed (ImportError): a bug is suspected."


def test_when_all_are_infeasible_nothing_tells_where() -> None:
    said = infeasible(where(lambda rate, decay, act: True))
    assert said.verdict is Verdict.PROBLEM
    assert said.sentence == "48 of 48 trials (100%) are infeasible (valid/error is NaN)."


def test_reasons_are_counted() -> None:
    memory = Outcome(OutcomeKind.INFEASIBLE, "out of memory: 9 GB")
    ran = [Ran({"x": i / 19}, 0.2, outcome=memory if i > 15 else DIVERGED) for i in range(20)]
    said = infeasible(evidence_of(Space.of(nuisance={"x": Float(0, 1)}), ran))
    assert "(16 valid/error is NaN and 4 out of memory)" in said.sentence


def test_reasons_that_differ_in_numbers_are_one_and_the_others_are_counted_by_trials() -> None:
    reasons = [f"train/loss ended at {6.9 + i / 100:.4g}, no lower than it began" for i in range(9)]
    reasons += ["latency <= 30 did not hold"] * 3 + ["out of memory"] * 2 + ["too slow"] * 2
    ran = [Ran({"x": i / 15}, 0.2, outcome=_infeasible(why)) for i, why in enumerate(reasons)]
    said = infeasible(evidence_of(Space.of(nuisance={"x": Float(0, 1)}), ran))
    assert (
        "(9 train/loss ended no lower than it began, 3 latency <= 30 did not hold and 4 others)"
    ) in said.sentence


def test_a_loss_that_grew_is_one_reason_wherever_it_began() -> None:
    ended = "train/loss ended at {}, far above the {} that it began with"
    ran = [
        Ran({"x": i / 9}, 0.2, outcome=_infeasible(ended.format(90 + i, 2 + i))) for i in range(9)
    ]
    said = infeasible(evidence_of(Space.of(nuisance={"x": Float(0, 1)}), ran))
    assert "(train/loss ended far above where it began)" in said.sentence


def _infeasible(why: str) -> Outcome:
    return Outcome(OutcomeKind.INFEASIBLE, why)


def test_few_trials_without_a_place_are_not_called_a_bug() -> None:
    numbers = iter(range(100))
    said = infeasible(where(lambda rate, decay, act: next(numbers) % 3 == 0, n=24))
    assert said.verdict is Verdict.WATCH
    assert said.sentence == (
        "8 of 24 trials (33%) are infeasible (valid/error is NaN); in which part of the space is "
        "not seen."
    )


def test_one_is_singular() -> None:
    numbers = iter(range(100))
    said = infeasible(where(lambda rate, decay, act: next(numbers) == 0, n=10))
    assert said.sentence == "1 of 10 trials (10%) is infeasible (valid/error is NaN)."


def test_of_thousands_of_trials_all_are_counted() -> None:
    said = infeasible(where(lambda rate, decay, act: act < 0.5, n=2200))
    bad = int(said.numbers["infeasible"])
    assert said.numbers["trials"] == 2200
    assert f": all {bad} with act relu, and none of the others" in said.sentence


@pytest.mark.parametrize("n", [0, 1, 7])
def test_few_trials_are_unknown(n: int) -> None:
    said = infeasible(where(lambda rate, decay, act: rate > 0.5, n=n))
    assert said.verdict is Verdict.UNKNOWN
    assert said.advice == f"Run at least {8 - n} more."


def test_one_choice_with_one_value_is_no_place() -> None:
    space = Space.of(nuisance={"act": Choice(("relu",))})
    ran = [Ran({"act": 0.5}, 0.2, outcome=DIVERGED if i % 2 else COMPLETE) for i in range(10)]
    assert infeasible(evidence_of(space, ran)).verdict is Verdict.PROBLEM


def test_of_few_configurations_what_diverged_is_still_named() -> None:
    said = infeasible(gather(draw(Plan(trials=5, cliff=0.5))))
    assert said.verdict is Verdict.UNKNOWN
    bad = len(said.trials)
    assert bad > 0
    assert said.sentence == (
        f"{bad} of 5 trials are infeasible (diverged); 5 configurations are too few to tell a "
        "share of the space."
    )
    assert said.advice == "Run at least 3 more."
    alone = infeasible(gather(draw(Plan(trials=1))))
    assert alone.sentence == "1 configuration is too few to tell a share of the space."
