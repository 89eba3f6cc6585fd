"""How short trainings go: planted instabilities are found, and noise is left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from small_studies import FINISHED
from tunebook.core.curves import Curve
from tunebook.core.evidence import Reading, Standing
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric
from tunebook.core.results import AttemptRecord, TrialRecord
from tunebook.core.space import Setting
from tunebook.core.trials import Cause, FromSequence, Outcome, OutcomeKind, Trial
from tunebook.procedures.stability.courses import Course, Usual, course, shown_by, together, usual
from tunebook.stats.stability import Kind

LOSS, ERROR, ACCURACY = Metric("train/loss"), Metric("valid/error"), Metric("acc", "higher")
STEPS = 500


def reading(
    values: np.ndarray | None,
    metric: str = "train/loss",
    standing: Standing = Standing.MEASURED,
    outcome: Outcome = FINISHED,
    every: int = 1,
) -> Reading:
    trial = Trial("small", 1, Setting(), {"lr": 0.1}, 1, FromSequence(0))
    curves = {}
    if values is not None:
        curves[metric] = Curve.of(every * np.arange(1, len(values) + 1), values)
    return Reading(
        TrialRecord(trial, (AttemptRecord(1, "t", "", outcome=outcome),), curves), standing
    )


def losses(seed: int = 0, low: float = 0.1, noise: float = 0.1, rho: float = 0.3) -> np.ndarray:
    """A loss that falls from 2.3, with correlated noise as batches have it."""
    rng = np.random.default_rng(seed)
    share = np.arange(STEPS) / STEPS
    e = rng.normal(size=STEPS)
    for i in range(1, STEPS):
        e[i] = rho * e[i - 1] + np.sqrt(1 - rho**2) * e[i]
    return np.asarray((low + 2.2 * np.exp(-8 * share)) * np.exp(noise * e))


@pytest.fixture(scope="module")
def compared() -> Usual:
    found = usual([reading(losses(s)) for s in range(3)], LOSS)
    assert found is not None
    return found


def told(one: Reading, compared: Usual, metric: Metric = LOSS) -> Course:
    found = course(one, metric, compared, STEPS)
    assert found is not None
    return found


def test_the_usual_course(compared: Usual) -> None:
    assert compared.start == pytest.approx(2.3, abs=0.3)
    assert compared.fall == pytest.approx(2.15, abs=0.3)
    assert 20 < compared.half_way < 80


def test_healthy_curves_are_stable(compared: Usual) -> None:
    """One in a hundred may be taken for unstable."""
    found = [told(reading(losses(seed)), compared).kind for seed in range(100, 140)]
    assert found.count(Kind.STABLE) >= 38


def test_heavier_noise_and_correlation_are_stable(compared: Usual) -> None:
    found = [told(reading(losses(seed, noise=0.25, rho=0.6)), compared).kind for seed in range(40)]
    assert found.count(Kind.STABLE) >= 38


@pytest.mark.parametrize("noise", [0.1, 0.2, 0.4])
@pytest.mark.parametrize("low", [0.02, 0.2, 1.0])
def test_the_noise_of_small_batches_is_no_instability(low: float, noise: float) -> None:
    """However far a loss falls: on its steep part, too, where the noise is as large."""

    def healthy(seed: int) -> Reading:
        return reading(losses(seed, low=low, noise=noise, rho=0.0))

    compared = usual([healthy(seed) for seed in (1000, 1001)], LOSS)
    assert compared is not None
    found = [told(healthy(seed), compared).kind for seed in range(30)]
    assert found.count(Kind.STABLE) >= 28


@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_a_planted_rise_is_seen_through_the_noise_of_small_batches(noise: float) -> None:
    compared = usual([reading(losses(seed, noise=noise)) for seed in (1000, 1001)], LOSS)
    assert compared is not None
    found = []
    for seed in range(20):
        values = losses(seed, noise=noise)
        values[300:] += 1.0
        found.append(told(reading(values), compared).kind)
    assert found.count(Kind.SUDDEN) >= 19


def test_values_below_zero_are_seen_above_a_floor() -> None:
    """A reward that rises to 1, and falls for good in the planted one."""
    rng = np.random.default_rng(0)
    rising = 1.0 - 3.0 * np.exp(-np.arange(STEPS) / 60) + 0.02 * rng.normal(size=STEPS)
    good = reading(rising, "acc")
    compared = usual([good], ACCURACY)
    assert compared is not None
    assert told(good, compared, ACCURACY).kind is Kind.STABLE
    fallen = np.where(np.arange(STEPS) < 300, rising, rising - 1.5)
    assert told(reading(fallen, "acc"), compared, ACCURACY).kind is Kind.SUDDEN


def test_an_early_spike_that_comes_back(compared: Usual) -> None:
    values = losses(7)
    values[8:25] += 3.0
    found = told(reading(values), compared)
    assert found.kind is Kind.EARLY and found.onset == pytest.approx(9, abs=2)
    assert found.why.startswith("train/loss rises by") and found.why.endswith("and comes back")


def test_a_sudden_rise_after_a_steady_fall(compared: Usual) -> None:
    values = losses(8)
    values[300:] += 1.5
    found = told(reading(values), compared)
    assert found.kind is Kind.SUDDEN and found.onset == pytest.approx(301, abs=30)


def test_a_blow_up(compared: Usual) -> None:
    values = losses(9)
    values[350:] = np.nan
    found = told(reading(values, standing=Standing.INFEASIBLE), compared)
    assert found.kind is Kind.SUDDEN and "without bounds from step 351" in found.why


@pytest.mark.parametrize("values", [[np.nan, np.nan], [np.inf, np.nan]])
def test_a_loss_that_is_never_a_number(compared: Usual, values: list[float]) -> None:
    found = told(reading(np.array(values), standing=Standing.INFEASIBLE), compared)
    assert found.kind is Kind.EARLY and "without bounds from step 1" in found.why


def test_a_loss_that_rises_and_comes_back_to_where_it_began_never_falls(compared: Usual) -> None:
    values = 2.3 * np.exp(0.02 * np.random.default_rng(1).normal(size=STEPS))
    values[5:40] *= 1.6
    assert told(reading(values), compared).why == "train/loss never falls"


def test_a_loss_that_never_falls(compared: Usual) -> None:
    flat = 2.3 * np.exp(0.02 * np.random.default_rng(1).normal(size=STEPS))
    found = told(reading(flat), compared)
    assert found.kind is Kind.EARLY and found.why == "train/loss never falls"


def test_rises_near_zero_do_no_harm(compared: Usual) -> None:
    """From 0.0001 to 0.01 is a factor of a hundred, and nothing beside a fall of two."""
    values = losses(10, low=1e-4)
    values[400:420] += 0.01
    assert told(reading(values), compared).kind is Kind.STABLE


def test_a_trial_that_was_ended(compared: Usual) -> None:
    diverged = Outcome(OutcomeKind.INFEASIBLE, "NaN", Cause.DIVERGED)
    early = told(reading(losses(1)[:15], standing=Standing.INFEASIBLE, outcome=diverged), compared)
    assert (early.kind, early.why) == (Kind.EARLY, "it diverged at step 15")
    late = told(reading(losses(1)[:400], standing=Standing.INFEASIBLE, outcome=diverged), compared)
    assert (late.kind, late.onset) == (Kind.SUDDEN, 400)
    first = told(reading(None, standing=Standing.INFEASIBLE, outcome=diverged), compared)
    assert first.kind is Kind.EARLY


def test_a_program_that_ended_in_an_error(compared: Usual) -> None:
    """It is infeasible where its error depends on its parameters."""
    failed = Outcome(OutcomeKind.FAILED, "FloatingPointError: nan")
    for values in (None, losses(1)[:15], losses(1)):
        one = reading(values, standing=Standing.INFEASIBLE, outcome=failed)
        found = told(replace(one, why=failed.reason), compared)
        assert (found.is_stable, found.why) == (False, "FloatingPointError: nan")


@pytest.mark.parametrize("every", [1, 20])
def test_a_result_that_is_worth_nothing_is_no_instability(compared: Usual, every: int) -> None:
    """Its last point is that of the last step but one, or of a coarser grid."""
    values = losses(1)[every - 1 :: every][:-1]
    assert told(reading(values, standing=Standing.INFEASIBLE, every=every), compared).is_stable
    # A program may also end by itself where it has diverged.
    cut = told(reading(values[:-3], standing=Standing.INFEASIBLE, every=every), compared)
    assert cut.why == f"it diverged at step {every * len(values[:-3])}"


def test_what_is_no_course(compared: Usual) -> None:
    memory = Outcome(OutcomeKind.INFEASIBLE, "out of memory", Cause.OUT_OF_MEMORY)
    assert course(reading(None), LOSS, compared, STEPS) is None
    assert course(reading(losses()[:5]), LOSS, compared, STEPS) is None
    assert course(reading(losses(), standing=Standing.BROKEN), LOSS, compared, STEPS) is None
    lost = reading(losses(), standing=Standing.INFEASIBLE, outcome=memory)
    assert course(lost, LOSS, compared, STEPS) is None


def test_accuracies_may_be_zero_and_are_turned() -> None:
    rng = np.random.default_rng(0)
    rises = 0.9 * (1 - np.exp(-np.arange(STEPS) / 60)) + 0.01 * rng.normal(size=STEPS)
    compared = usual([reading(rises, "acc")], ACCURACY)
    assert compared is not None
    assert told(reading(rises, "acc"), compared, ACCURACY).is_stable
    broken = rises.copy()
    broken[300:] -= 0.5
    assert told(reading(broken, "acc"), compared, ACCURACY).kind is Kind.SUDDEN


def test_flat_trials_have_no_usual_course() -> None:
    assert usual([reading(np.full(100, 2.3))], LOSS) is None
    assert usual([reading(losses()[:5]), reading(None)], LOSS) is None


def test_the_metric_with_most_points_shows_it() -> None:
    many = reading(losses())
    knobs = Knobs(train_loss="train/loss")
    assert shown_by([many], knobs, ERROR) == LOSS
    assert shown_by([many], Knobs(), ERROR) == LOSS
    sparse = reading(losses()[:25], every=20)
    dense = reading(losses(), "valid/error")
    assert shown_by([sparse, dense], knobs, ERROR) == ERROR
    assert shown_by([reading(losses()[:19])], knobs, ERROR) is None
    assert shown_by([], knobs, ERROR) is None


def test_seeds_together() -> None:
    def kinds(*several: Kind) -> Kind:
        return together([Course(reading(None), kind) for kind in several])

    assert kinds() is Kind.STABLE
    assert kinds(Kind.EARLY) is Kind.EARLY
    assert kinds(Kind.STABLE, Kind.EARLY) is Kind.STABLE
    assert kinds(Kind.STABLE, Kind.STABLE, Kind.EARLY) is Kind.STABLE
    assert kinds(Kind.EARLY, Kind.SUDDEN, Kind.SUDDEN) is Kind.SUDDEN
