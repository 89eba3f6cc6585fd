"""Which size is taken: one that fits, and none because of trials that broke."""

from __future__ import annotations

import math

import pytest

from simulated_batches import Machine, subject
from simulated_probes import Made, Training, answered
from simulated_remedies import BROKEN
from tunebook.core.domains import Value
from tunebook.core.edits import SetParameter
from tunebook.core.findings import Finding, Verdict
from tunebook.core.space import Config, Fixed
from tunebook.procedures.answers import Answer
from tunebook.procedures.batch_size.probe import probe


def asked(train: Training, current: int, **options: Value) -> tuple[Answer, Finding]:
    answer, _ = answered(probe(subject(current), {"largest": 2048, **options}), train)
    return answer, answer.findings[0]


@pytest.mark.parametrize(
    ("current", "why"),
    [
        (1024, "1,024 does not fit."),
        (4096, "4,096 does not fit."),
        (768, "768 was not shown to fit, and 1,024 does not."),
    ],
)
def test_a_size_that_does_not_fit_cannot_stay(current: int, why: str) -> None:
    """Whatever the line through smaller ones would have of it: here, the same throughput."""
    answer, finding = asked(Machine(largest=512).train, current)
    assert finding.verdict is Verdict.WATCH
    assert finding.advice.startswith(f"Set batch_size to 512 (now {current:,}). {why} Then tune")
    (edit,) = answer.edits
    assert isinstance(edit, SetParameter)
    assert edit.source == Fixed(512)


def breaking(at: int, times: float) -> Training:
    """A machine on which some of the trials at a size break, from the first on."""
    left = [times]

    def train(config: Config, seed: int, steps: int) -> Made:
        if config["batch_size"] == at and left[0] > 0:
            left[0] -= 1
            return BROKEN
        return Machine().train(config, seed, steps)

    return train


def test_one_of_two_trials_that_breaks_is_told_and_changes_nothing() -> None:
    healthy, without = asked(Machine().train, 256)
    answer, finding = asked(breaking(32, 1), 256)
    assert (answer.edits, finding.verdict, finding.advice) == (
        healthy.edits,
        without.verdict,
        without.advice,
    )
    assert finding.sentence.startswith(
        "Batch sizes from 8 to 2,048 fit; larger ones were not tried. 1 trial broke, at 32 "
        "(ModuleNotFoundError: no module named 'x'), beside one that fits: that one counts. "
    )


@pytest.mark.parametrize("current", [32, 256])
def test_a_size_that_always_breaks_is_no_reason_to_go_below_it(current: int) -> None:
    answer, studies = answered(probe(subject(current), {"largest": 2048}), breaking(32, math.inf))
    finding = answer.findings[0]
    (sizes,) = (study.name for study in studies if study.name.endswith("sizes-1"))
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence.startswith("Batch sizes from 8 to 16 fit; 32 failed (ModuleNotFoundE")
    assert finding.advice == (
        "Whether a batch size of 32 or more fits is not known, as no trial of it worked. Look at "
        f"one, tunebook show {sizes} 5; then probe again with --retry-failed. This holds for this "
        "model, optimiser and machine: probe again after a change."
    )
    assert (answer.edits, answer.retune) == ((), ())


def test_a_size_that_always_breaks_above_the_present_one_ends_the_search() -> None:
    _, finding = asked(breaking(64, math.inf), 16)
    assert finding.verdict is Verdict.WATCH
    assert finding.advice.startswith("Set batch_size to 32 (now 16, ")


def test_a_size_above_those_that_were_tried_may_stay() -> None:
    answer, finding = asked(Machine().train, 1024, largest=512)
    assert finding.verdict is Verdict.GOOD
    assert finding.advice.startswith("batch_size can stay at 1,024: 512 is about as fast. ")
    assert answer.edits == ()
