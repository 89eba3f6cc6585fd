"""What a tried size says: its fate, the least disturbed of its trials, and their drift."""

from __future__ import annotations

import math

import pytest

from simulated_batches import OUT_OF_MEMORY, Machine, subject
from simulated_probes import Made, results_of
from tunebook.core.curves import Curve
from tunebook.core.space import Config
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.procedures.batch_size.tried import (
    Fate,
    Tried,
    Trying,
    drift_of,
    read_sizes,
    why_ended,
)

NO_RESULT = Outcome(OutcomeKind.FAILED, "valid/error was never logged")
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "NaN", Cause.DIVERGED)


def read(machine: Machine, repeats: int = 2, steps: int = 40) -> tuple[Tried, ...]:
    study = subject().stage(
        "sizes", {"batch_size": [16, 8]}, goal="?", steps=steps, replicates=repeats
    )
    return read_sizes(subject(), results_of(study, machine.train), steps)


def test_sizes_come_in_order_each_with_the_faster_of_its_trials() -> None:
    small, large = read(Machine(drift=0.2))
    assert (small.size, large.size) == (8, 16)
    assert small.times is not None
    assert len(small.medians) == 2
    assert small.times.median.estimate == min(small.medians)
    assert small.throughput == pytest.approx(8 / min(small.medians))
    assert small.memory == pytest.approx(2**28 + 8 * 2**16, rel=0.01)


def test_what_parts_of_a_step_take_is_read() -> None:
    assert read(Machine(waits={"data": 0.4}))[0].waits == {"data": pytest.approx(0.4)}


@pytest.mark.parametrize(
    ("outcome", "fate"),
    [(OUT_OF_MEMORY, Fate.OUT_OF_MEMORY), (DIVERGED, Fate.FITS), (NO_RESULT, Fate.FAILED)],
)
def test_fates(outcome: Outcome, fate: Fate) -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return outcome

    study = subject().stage("sizes", {"batch_size": [8]}, goal="?", steps=40)
    (tried,) = read_sizes(subject(), results_of(study, train), 40)
    assert tried.fate is fate
    if fate is not Fate.FITS:
        assert (
            why_ended(tried)
            == {
                Fate.OUT_OF_MEMORY: f"8 ran out of memory ({outcome.reason})",
                Fate.FAILED: f"8 failed ({outcome.reason})",
            }[fate]
        )


def test_a_trial_that_made_its_steps_has_shown_that_it_fits() -> None:
    study = subject().stage("sizes", {"batch_size": [8]}, goal="?", steps=40)
    results = results_of(study, lambda *_: {"loss": Curve.of(range(1, 41), range(40))})
    assert read_sizes(subject(), results, 40)[0].fate is Fate.FITS


@pytest.mark.parametrize(
    ("outcomes", "fate", "broken"),
    [
        ((NO_RESULT, None), Fate.FITS, 1),
        ((None, NO_RESULT), Fate.FITS, 1),
        ((NO_RESULT, NO_RESULT), Fate.FAILED, 0),
        ((NO_RESULT, OUT_OF_MEMORY), Fate.OUT_OF_MEMORY, 0),
        ((None, OUT_OF_MEMORY), Fate.OUT_OF_MEMORY, 0),
        ((None, None), Fate.FITS, 0),
    ],
)
def test_a_trial_that_broke_does_not_count_beside_one_that_fits(
    outcomes: tuple[Outcome | None, ...], fate: Fate, broken: int
) -> None:
    left = list(outcomes)

    def train(config: Config, seed: int, steps: int) -> Made:
        return left.pop() or Machine().train(config, seed, steps)

    study = subject().stage("sizes", {"batch_size": [8]}, goal="?", steps=40, replicates=2)
    (tried,) = read_sizes(subject(), results_of(study, train), 40)
    assert (tried.fate, len(tried.broken)) == (fate, broken)
    assert len(tried.medians) == (2 - broken if fate is Fate.FITS else 0)


def test_drift_is_that_of_repeated_trials() -> None:
    found = [drift_of(read(Machine(drift=0.2, noise=0.0), repeats=8)) for _ in range(1)]
    assert found[0] == pytest.approx(0.2 / math.sqrt(2), rel=0.5)
    assert drift_of(read(Machine(drift=0.0))) < 0.02
    assert drift_of(read(Machine(drift=0.3), repeats=1)) == 0.01


def test_sizes_above_one_that_does_not_fit_do_not_count() -> None:
    fits, _ = read(Machine())
    large = Tried(16, Fate.OUT_OF_MEMORY, fits.record)
    odd = Tried(32, Fate.FITS, fits.record)
    trying = Trying((fits, large, odd), "16 ran out of memory", drift=0.3)
    assert trying.fitting == (fits,)
    assert list(trying.timed) == [8.0]
    assert trying.is_busy
