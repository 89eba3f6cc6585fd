"""Sweeps: where they go on, what counts as an end, and what a broken trial says."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulated_probes import Made, Training, results_of, subject_of
from tunebook.core.evidence import Reading, Standing
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.core.trials import Cause, Outcome, OutcomeKind
from tunebook.procedures.sweeps import (
    Sweep,
    judged,
    mean_loss,
    orders,
    promise,
    readings_of,
    sweep,
    worse_by,
)

KNOBS = Knobs(learning_rate="lr", chance=0.9)
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "NaN", Cause.DIVERGED)
CRASHED = Outcome(OutcomeKind.CRASHED, "the machine went away")


def swept(
    train: Training, replicates: int = 1, extensions: int = 2, seed: int = 0
) -> tuple[Sweep, list[Study]]:
    subject = subject_of({"lr": 0.01}, KNOBS, seed=seed)
    values = orders(0.01, 1, 1, 3)
    making: Generator[Study, Results, Sweep] = sweep(
        subject,
        "sweep",
        "lr",
        values,
        goal="?",
        replicates=replicates,
        extensions=extensions,
    )
    studies = [next(making)]
    try:
        while True:
            studies.append(making.send(results_of(studies[-1], train)))
    except StopIteration as ended:
        return ended.value, studies


def valley(best: float, broken_from: float = math.inf, noise: float = 0.0) -> Training:
    """The error falls to the best rate and rises after it."""

    def train(config: Config, seed: int, steps: int) -> Made:
        rate = float(config["lr"] or 0)
        if rate >= broken_from:
            return DIVERGED
        luck = np.random.default_rng([seed, int(1e6 * rate)]).normal()
        level = 0.1 + 0.03 * abs(math.log10(rate / best)) + noise * luck
        return {"valid/error": [0.8, level]}

    return train


def test_a_best_inside_needs_one_study() -> None:
    made, studies = swept(valley(0.01))
    assert (made.best, made.end, made.boundary) == (0.01, None, None)
    assert [study.name for study in studies] == ["small.simulated.sweep"]


@pytest.mark.parametrize(("best", "side"), [(1e-4, "low"), (1.0, "high")])
def test_a_best_at_an_end_is_followed(best: float, side: str) -> None:
    made, studies = swept(valley(best))
    assert made.best == pytest.approx(best, rel=0.3) and made.boundary is None
    assert len(studies) == 3
    stuck, _ = swept(valley(best), extensions=0)
    assert stuck.boundary == stuck.end == side


def test_extensions_end() -> None:
    made, studies = swept(valley(1e9))
    assert len(studies) == 3
    assert made.boundary == "high"
    assert list(made.values) == sorted(set(made.values))


def test_an_edge_of_the_program_is_no_boundary() -> None:
    made, studies = swept(valley(1.0, broken_from=0.03))
    assert (made.best, made.end, made.broken_above) == (0.022, None, 0.046)
    assert len(studies) == 1


def test_a_crash_says_nothing_of_a_value() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return CRASHED if config["lr"] in (0.046, 0.1) else valley(1.0)(config, seed, steps)

    made, _ = swept(train, extensions=0)
    assert made.broken == (0.046, 0.1) and made.broken_above is None
    # What is known ends at the best value: this is no edge.
    assert (made.best, made.boundary) == (0.022, "high")


@pytest.mark.parametrize(
    ("best", "lost"), [(1.0, (0.022, 0.046, 0.1)), (1e-4, (0.001, 0.0022, 0.0046))]
)
def test_a_sweep_goes_on_beyond_values_that_crashed(best: float, lost: tuple[float, ...]) -> None:
    """As many as an extension has values: neither they nor nothing is tried next."""

    def train(config: Config, seed: int, steps: int) -> Made:
        return CRASHED if config["lr"] in lost else valley(best)(config, seed, steps)

    made, studies = swept(train, extensions=2)
    assert len(studies) == 3
    assert made.broken == lost and made.best == pytest.approx(best)
    assert made.boundary is None


def test_errors_at_one_end_become_an_edge() -> None:
    """A program that raises on NaN: two errors may be chance, further ones are not."""
    error = Outcome(OutcomeKind.FAILED, "FloatingPointError: the loss is nan")

    def train(config: Config, seed: int, steps: int) -> Made:
        return error if float(config["lr"] or 0) > 0.03 else valley(1.0)(config, seed, steps)

    made, studies = swept(train, extensions=2)
    assert (made.best, made.broken_above, made.end) == (0.022, 0.046, None)
    assert len(studies) == 2


def test_nothing_works() -> None:
    made, _ = swept(lambda config, seed, steps: DIVERGED)
    assert (made.best, made.boundary, made.broken_above) == (None, None, None)
    assert made.working == ()


def test_far_results_stay_results() -> None:
    """Among many equal results a worse one would else be infeasible."""

    def train(config: Config, seed: int, steps: int) -> Made:
        worse = config["lr"] == 0.1
        return {"valid/error": [0.8, 0.4 if worse else 0.1 + 1e-4 * float(config["lr"] or 0)]}

    made, _ = swept(train, replicates=2, extensions=0)
    assert 0.1 in made.working


def test_readings_are_in_the_order_of_trials() -> None:
    study = subject_of({"lr": 0.01}, KNOBS).stage("x", {"lr": [0.01]}, goal="?", replicates=11)
    values = iter([0.1, DIVERGED, *[0.1001, 0.1002] * 4, 0.5])

    def train(config: Config, seed: int, steps: int) -> Made:
        own = next(values)
        return own if isinstance(own, Outcome) else {"valid/error": [own]}

    # One that is far out stays what it is.
    readings = readings_of(results_of(study, train))
    assert [reading.number for reading in readings] == list(range(1, 12))
    assert [r.number for r in readings if r.standing is Standing.INFEASIBLE] == [2]


def test_a_rate_at_chance_does_not_work() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return {"valid/error": [0.9, 0.9 if float(config["lr"] or 0) > 0.03 else 0.2]}

    made, _ = swept(train, extensions=0)
    assert made.broken_above == 0.046


def test_ties_are_no_boundary() -> None:
    made, _ = swept(lambda config, seed, steps: {"valid/error": [0.5, 0.0]}, extensions=0)
    assert made.end == "low" and made.boundary is None and made.noise is None


def test_noise_comes_from_replicates() -> None:
    made, _ = swept(valley(0.01, noise=0.02), replicates=8)
    assert made.noise == pytest.approx(0.02 / math.sqrt(8), rel=0.5)
    assert made.is_as_good(made.best or 0)


def test_a_boundary_within_noise_is_none() -> None:
    """A plateau up to the end: whichever value wins there by luck, the sweep does not refuse."""
    refused = 0
    for seed in range(40):
        flat = swept(_flat, replicates=2, extensions=0, seed=seed)[0]
        refused += flat.boundary is not None
    assert refused <= 8
    steep = [swept(valley(1e3, noise=0.001), 2, 0, seed)[0].boundary for seed in range(20)]
    assert steep == ["high"] * 20


def _flat(config: Config, seed: int, steps: int) -> Made:
    luck = np.random.default_rng([seed, int(1e6 * float(config["lr"] or 0))]).normal()
    return {"valid/error": [0.8, 0.1 + 0.01 * luck]}


def test_judged_as_a_whole() -> None:
    study = subject_of({"lr": 0.01}, KNOBS).stage("x", {"lr": [0.1, 0.01]}, goal="?")
    made = judged(results_of(study, valley(0.1)), "lr", mean_loss(study.objective.metric))
    assert made.values == (0.01, 0.1) and made.best == 0.1


def test_a_sweep_needs_two_values() -> None:
    subject = subject_of({"lr": 0.01}, KNOBS)
    making = sweep(subject, "sweep", "lr", [0.1], goal="?")
    study = next(making)
    with pytest.raises(ValueError, match="two values above 0"):
        making.send(results_of(study, valley(1.0)))


@given(st.floats(1e-6, 10), st.integers(1, 4))
def test_orders_go_both_ways(centre: float, each: int) -> None:
    values = orders(centre, 1, 2, each)
    assert len(values) == 3 * each + 1 and values == sorted(values)
    assert values[-1] / values[0] == pytest.approx(1000, rel=0.15)


def test_what_a_sweep_promises_beyond_its_best() -> None:
    def swept(scores: dict[float, float], seed: float = 0.001, wild: float = 0.0) -> Sweep:
        single = {value: (score - seed, score, score + seed) for value, score in scores.items()}
        single |= {0.04: (scores[0.04],) * 3, 0.08: (scores[0.08] - wild, scores[0.08], wild)}
        return Sweep("lr", dict.fromkeys(scores, ()), scores, 1.0, single if seed else {})

    falling = {0.01: 0.5, 0.02: 0.4, 0.04: 0.3, 0.08: 0.9}
    assert promise(swept(falling), 2.0) < 0.05
    # Beyond an edge some seeds work: their noise is not that of the rates up to it.
    assert promise(swept(falling, wild=0.8), 2.0) < 0.05
    assert promise(swept(falling, seed=0.2), 2.0) > 0.2
    assert promise(swept({0.01: 1.2, 0.02: 0.4, 0.04: 0.3, 0.08: 0.4}), 2.0) > 0.9
    # By a factor of ten and again: a parabola of the results themselves would level off.
    assert promise(swept({0.01: 3.0, 0.02: 0.3, 0.04: 0.03, 0.08: 0.9}), 2.0) < 0.05
    below_zero = {0.01: -0.1, 0.02: -0.2, 0.04: -0.3, 0.08: 0.9}
    assert promise(swept(below_zero), 2.0) < 0.05
    assert promise(swept(falling, seed=0.0), 2.0) == 0.5
    assert promise(swept(dict.fromkeys(falling, math.inf)), 2.0) == 0.5


def test_the_plateau_is_what_is_as_good_beside_the_best() -> None:
    scores = {0.1: 0.5, 0.2: 0.31, 0.4: 0.3, 0.8: 0.305, 1.6: 0.4, 3.2: 0.3}
    wide, alone = (Sweep("lr", {}, scores, noise=noise) for noise in (0.01, 0.0))
    assert (wide.plateau, wide.middle) == ((0.2, 0.4, 0.8), 0.4)
    assert (alone.plateau, alone.middle) == ((0.4,), 0.4)
    none = Sweep("lr", {}, {0.1: math.inf})
    assert (none.plateau, none.middle) == ((), None)


def with_seeds(seed_sd: float, broken: tuple[float, int] | None = None) -> Training:
    """A bowl around 0.01 on which seeds have a strong effect; one trial of a rate may break."""
    seen: dict[float, list[int]] = {}

    def train(config: Config, seed: int, steps: int) -> Made:
        rate = float(config["lr"] or 0)
        numbers = seen.setdefault(rate, [])
        numbers.append(seed)
        if broken is not None and broken == (rate, len(numbers) - 1):
            return CRASHED
        own, left = (np.random.default_rng(s).normal() for s in (seed, [seed, int(1e6 * rate)]))
        level = 0.3 + 0.05 * math.log10(rate / 0.01) ** 2 + seed_sd * own + 0.0005 * left
        return {"valid/error": [0.8, level]}

    return train


@pytest.mark.parametrize("replicates", [2, 3])
def test_a_seed_that_broke_is_no_merit_of_its_rate(replicates: int) -> None:
    """Without the worst seed, the mean of what is left is better by the whole effect of it."""
    wrong = 0
    for seed in range(20):
        rate, lost = (0.0046, 0.022)[seed % 2], seed % replicates
        made, _ = swept(with_seeds(0.05, (rate, lost)), replicates, seed=seed)
        assert made.readings[rate][lost].standing is Standing.BROKEN
        wrong += made.best != 0.01
    assert wrong == 0


def test_a_rate_that_lacks_a_seed_has_the_score_of_all() -> None:
    whole, _ = swept(with_seeds(0.05), replicates=3)
    lacking, _ = swept(with_seeds(0.05, (0.022, 1)), replicates=3)
    assert lacking.scores[0.022] == pytest.approx(whole.scores[0.022], abs=0.002)
    others = [rate for rate in whole.scores if rate != 0.022]
    assert [lacking.scores[rate] for rate in others] == [whole.scores[rate] for rate in others]


def test_scores_that_measure_nothing_are_no_noise() -> None:
    subject = subject_of({"lr": 0.01}, KNOBS)
    study = subject.stage("sweep", {"lr": orders(0.01, 1, 1, 3)}, goal="?", replicates=2)
    results = results_of(study, with_seeds(0.0))
    loss = mean_loss(Metric("valid/error"))
    unlucky = min(record.trial.seed for record in results)

    def judge(readings: Sequence[Reading]) -> float:
        """As if one seed of the worse rates had not come to its end, and stood for more."""
        far = [r for r in readings if r.record.trial.config["lr"] not in (0.0046, 0.01, 0.022)]
        return loss(readings) + 9.0 * sum(r.record.trial.seed == unlucky for r in far)

    whole, told = judged(results, "lr", judge), judged(results, "lr", judge, lambda x: x < 1.0)
    assert whole.noise is not None and whole.noise > 0.5
    assert told.noise is not None and told.noise < 0.01


def test_a_promise_survives_a_trial_that_broke() -> None:
    """Results that fall by a power are seen by their logs, also where a trial broke."""

    def falls(broken: bool) -> Training:
        count = 0

        def train(config: Config, seed: int, steps: int) -> Made:
            nonlocal count
            rate = float(config["lr"] or 0)
            count += rate == 0.0046
            if rate > 0.025:
                return DIVERGED
            if broken and rate == 0.0046 and count == 1:
                return CRASHED
            luck = np.random.default_rng([seed, int(1e6 * rate)]).normal()
            return {"valid/error": [0.8, 0.1 * (0.01 / rate) ** 1.5 * math.exp(0.1 * luck)]}

        return train

    for broken in (False, True):
        made, _ = swept(falls(broken), replicates=3)
        assert made.best == 0.022 and promise(made, 2.0) < 0.05


def test_trainings_are_compared_on_the_seeds_that_both_have() -> None:
    subject = subject_of({"lr": 0.01}, KNOBS)
    metric = Metric("valid/error")

    def readings(rate: float, worse: float, broken: int | None = None, made: Made | None = None):  # type: ignore[no-untyped-def]
        study = subject.stage("one", {"lr": [rate]}, goal="?", replicates=3)
        count = iter(range(9))

        def train(config: Config, seed: int, steps: int) -> Made:
            if next(count) == broken:
                return made or CRASHED
            return {"valid/error": [0.3 + worse + 0.1 * np.random.default_rng(seed).normal()]}

        return readings_of(results_of(study, train))

    whole, lacking = readings(0.01, 0.0), readings(0.02, 0.05, broken=1)
    assert worse_by(metric, lacking, whole) == pytest.approx(0.05)
    assert worse_by(metric, whole, lacking) == pytest.approx(-0.05)
    assert worse_by(metric, readings(0.02, 0.0, 1, DIVERGED), whole) == math.inf
    assert math.isnan(worse_by(metric, (), whole))
