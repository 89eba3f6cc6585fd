"""Other objectives for studies that have run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reported import records, study
from tunebook.core.errors import TunebookError
from tunebook.core.objective import Constraint, Metric, Objective
from tunebook.core.results import Results
from tunebook.report import objectives

RESULTS = records(study())
ERROR, LOSS = Metric("valid/error"), Metric("train/loss")


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("last", Objective(ERROR, "last")),
        ("best", Objective(ERROR)),
        ("mean:2", Objective(ERROR, "mean", 2)),
        ("valid/error", Objective(ERROR)),
        ("train/loss", Objective(LOSS)),
        ("train/loss:lower", Objective(LOSS)),
        ("train/loss:higher:last", Objective(Metric("train/loss", "higher"), "last")),
        (" train/loss:mean:3 ", Objective(LOSS, "mean", 3)),
        ("valid/error:higher", Objective(Metric("valid/error", "higher"))),
    ],
)
def test_what_a_text_asks_for(text: str, objective: Objective) -> None:
    assert objectives.parse(text, RESULTS) == objective


def test_what_is_not_said_is_as_in_the_study() -> None:
    own = Objective(ERROR, "mean", 3, (Constraint("train/loss", at_most=1),))
    known = Results(replace(RESULTS.study, objective=own), RESULTS.trials)
    assert objectives.parse("train/loss", known) == replace(own, metric=LOSS)
    assert objectives.parse("last", known) == replace(own, reduction="last", over=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "valid/eror",
            "no trial of model has logged 'valid/eror'; did you mean 'valid/error'? "
            "It has logged: train/loss, valid/error",
        ),
        (
            "accuracy",
            "no trial of model has logged 'accuracy'. It has logged: train/loss, valid/error",
        ),
        (
            "train/loss:lowr",
            "'lowr' says nothing of train/loss; did you mean 'lower'? Write last, best, mean:5 "
            "or a metric such as valid/loss:lower",
        ),
        (
            "",
            "the objective '' names nothing to measure; write last, best, mean:5 or a metric such "
            "as valid/loss:lower",
        ),
        (
            "lower",
            "the objective 'lower' names nothing to measure; write last, best, mean:5 or a metric "
            "such as valid/loss:lower",
        ),
        ("mean", "the objective 'mean' needs a number of points, such as mean:5"),
        ("mean:x", "the objective 'mean:x' needs a number of points, such as mean:5"),
        (
            "mean:99999",
            "no trial has 99,999 points of valid/error to take the mean of: the longest has 3; "
            "write mean:3 or less",
        ),
        ("mean:0", "the mean is over at least one point, got 0"),
    ],
)
def test_a_mistake_is_told(text: str, message: str) -> None:
    with pytest.raises(TunebookError) as caught:
        objectives.parse(text, RESULTS)
    assert str(caught.value) == message


def test_before_anything_is_logged_a_mean_may_be_over_any_points() -> None:
    assert objectives.parse("mean:99", Results(RESULTS.study)).over == 99


def test_a_direction_that_the_name_does_not_tell_is_asked_for() -> None:
    record = RESULTS.trials[0]
    margin = {**record.curves, "margin": record.curves["train/loss"]}
    known = Results(RESULTS.study, (replace(record, curves=margin),))
    with pytest.raises(TunebookError) as caught:
        objectives.parse("margin", known)
    assert str(caught.value) == ("which way is margin better? Write margin:lower or margin:higher")
    assert objectives.parse("margin:higher", known).metric == Metric("margin", "higher")


def test_a_study_without_a_point() -> None:
    with pytest.raises(TunebookError) as caught:
        objectives.parse("train/loss", Results(RESULTS.study))
    assert str(caught.value) == "model has logged nothing yet, so there is no 'train/loss'"


def test_two_studies_are_judged_by_what_both_have_logged() -> None:
    objectives.require(Objective(LOSS), RESULTS)
    objectives.require(Objective(LOSS), Results(RESULTS.study))
    with pytest.raises(TunebookError) as caught:
        objectives.require(Objective(Metric("accuracy")), RESULTS)
    assert str(caught.value) == (
        "model has not logged accuracy, by which both would be judged; choose with --objective "
        "what both have logged. It has logged: train/loss, valid/error"
    )


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("valid/loss", "lower"),
        ("eval_nll", "lower"),
        ("test.mse", "lower"),
        ("top1_acc", "higher"),
        ("valid/f1", "higher"),
        ("grad_norm", None),
        ("accuracy_loss", None),
    ],
)
def test_what_a_name_tells(name: str, better: str | None) -> None:
    assert objectives.likely(name) == better
