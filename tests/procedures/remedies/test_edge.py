"""The best learning rate, and the first unstable one above it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from simulated_probes import Made, Training, results_of
from simulated_remedies import BROKEN, KNOBS, Program, subject
from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.evidence import Reading
from tunebook.core.objective import Metric
from tunebook.core.space import Config
from tunebook.core.study import Budget
from tunebook.procedures.remedies.edge import Edge, are_calmer, find_edge, whole_steps

STEPS = 120


def edge(program: Training, start: Mapping[str, Value] | None = None) -> Edge:
    finding = find_edge(subject(start), goal="?", steps=STEPS, fix={"warmup": 0})
    try:
        study = next(finding)
        while True:
            assert study.budget == Budget(STEPS)
            study = finding.send(results_of(study, program))
    except StopIteration as ended:
        found: Edge = ended.value
        return found


def test_the_planted_edge_is_found() -> None:
    found = edge(Program(limit=0.06))
    assert found.to_cure == (0.03, 0.095)
    assert found.trouble_at(0.095).startswith("train/loss rises by")
    assert found.trouble_at(0.03) == ""


def test_the_start_s_own_remedy_is_left_out() -> None:
    """Else the edge would be that of the remedy."""
    program = Program(limit=0.06, warm=lambda steps: 10.0)
    assert edge(program, {"warmup": 50}).unstable == 0.095


def test_rates_at_which_trials_diverge_are_unstable() -> None:
    found = edge(Program(limit=0.06, diverges=True))
    assert found.unstable == 0.095
    assert found.trouble_at(0.095) == "it diverged before its first value"


def test_a_rate_far_above_the_best_is_no_edge() -> None:
    found = edge(Program(limit=0.5, optimum=0.03))
    assert (found.best, found.unstable) == (0.03, 0.95)
    assert not found.is_near
    assert found.to_cure is None


def test_a_rate_next_to_one_as_good_as_the_best_is_an_edge() -> None:
    """0.03 and 0.095 are equally good, whichever is ahead by chance."""
    found = edge(Program(limit=0.2, optimum=0.0534))
    assert found.unstable == 0.3
    assert found.is_near


def test_a_stable_program_has_none() -> None:
    found = edge(Program(limit=1e6, optimum=0.03))
    assert (found.best, found.unstable, found.to_cure) == (0.03, None, None)


def test_a_best_rate_at_the_end_is_not_to_be_cured() -> None:
    found = edge(Program(limit=1e6, optimum=1e-9))
    assert found.sweep.boundary == "low"
    assert (found.to_cure, found.worse) == (None, None)


def test_the_first_rate_that_is_worse_though_no_loss_rises() -> None:
    assert edge(Program(limit=1e6, optimum=0.03)).worse == 0.095
    # 0.03 and 0.095 are equally good.
    assert edge(Program(limit=1e6, optimum=0.0534)).worse == 0.3
    # The loss shows why it is worse.
    assert edge(Program(limit=0.06)).worse is None
    # Further up it does, too, which is another matter.
    assert edge(Program(limit=0.5, optimum=0.03)).worse == 0.095


def test_rates_whose_trials_broke_are_not_known_to_be_worse() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        program = Program(limit=1e6, optimum=0.03)
        return BROKEN if config["lr"] == 0.095 else program(config, seed, steps)

    assert edge(train).worse == 0.3


def test_trainings_as_good_as_others_within_noise() -> None:
    found = edge(Program(limit=1e6, optimum=0.03))
    noise = found.sweep.noise
    worse = found.sweep.readings[0.095]
    assert noise is not None
    assert found.are_as_good(found.at_best, worse)
    assert not found.are_as_good(worse, found.at_best)
    assert replace(found, sweep=replace(found.sweep, noise=0.1)).are_as_good(worse, found.at_best)
    assert not found.are_as_good((), found.at_best)
    assert found.told(()) == "no result"
    assert found.told(worse) == f"valid/error {found.score(worse):.4g}"
    higher = replace(found, objective=Metric("valid/error", "higher"))
    assert higher.told(worse) == found.told(worse)
    assert not higher.are_as_good(found.at_best, worse)


def test_a_remedy_is_worth_tuning_where_it_helps_at_its_own_rate() -> None:
    """It need not make a rate above the best as good as the best one."""
    found = edge(Program(limit=1e6, optimum=0.03))
    rate = max(found.sweep.working)
    without = found.sweep.readings[rate]

    def by(gain: float) -> tuple[Reading, ...]:
        return tuple(replace(r, value=(r.value or 0.0) - gain) for r in without)

    margin = math.sqrt(2.0) * (found.sweep.noise or 0.0)
    assert not found.are_as_good(by(2.0 * margin), found.at_best)
    assert found.is_worth_tuning(by(2.0 * margin), rate)
    assert not found.is_worth_tuning(by(0.5 * margin), rate)
    assert not found.is_worth_tuning(without, rate)
    assert found.is_worth_tuning(found.at_best, rate)


def test_trials_that_broke_are_not_known() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        broken = config["lr"] == 0.095
        return BROKEN if broken else Program(limit=1e6, optimum=0.03)(config, seed, steps)

    found = edge(train)
    assert found.trouble_at(0.095) == ""
    assert found.trouble_in(found.sweep.readings[0.095], STEPS) is None
    assert found.trouble_in(found.sweep.readings[0.03], STEPS) == ""
    # One that is stable does not speak for the one that broke.
    both = (*found.sweep.readings[0.03], *found.sweep.readings[0.095])
    assert found.trouble_in(both, STEPS) is None
    assert found.unstable is None


def test_a_loss_that_is_logged_too_rarely_tells_nothing() -> None:
    found = edge(Program(limit=0.06, every=10))
    assert found.usual is None
    assert found.to_cure is None
    assert found.trouble_in(found.sweep.readings[0.03], STEPS) is None
    diverged = edge(Program(limit=0.06, every=10, diverges=True))
    assert diverged.trouble_at(0.095) == "train/loss became nan at step 4"


def test_how_far_trainings_rise() -> None:
    found = edge(Program(limit=0.06))
    calm, wild = (found.rises(found.sweep.readings[rate], STEPS) for rate in (0.03, 0.095))
    assert max(calm) < 0.3
    # From 1.7 to 4.5, both above a floor of 0.2 that is just below what is usually reached.
    assert min(wild) == pytest.approx(0.9, abs=0.2)
    assert are_calmer(calm, wild)
    assert not are_calmer(wild, wild)
    assert not are_calmer((), wild)
    assert not are_calmer((math.inf,), (math.inf,))
    lost = edge(Program(limit=0.06, diverges=True))
    assert lost.rises(lost.sweep.readings[0.095], STEPS) == (math.inf, math.inf)
    assert are_calmer(calm, (math.inf,))


def test_where_an_instability_begins() -> None:
    found = edge(Program(limit=0.06))
    (first, _), (calm, _) = (found.sweep.readings[rate] for rate in (0.095, 0.03))
    assert found.onset(first, STEPS) in range(1, 7)
    assert found.onset(calm, STEPS) is None


def test_a_look_is_as_long_as_it_takes_to_see() -> None:
    assert edge(Program()).seen_after(100) == 100
    # Half way down after 14 steps; 40 points take 40 steps, or 200 where every fifth is logged.
    assert 25 <= edge(Program()).seen_after(0) <= 41
    assert edge(Program(every=5)).seen_after(50) == pytest.approx(200, abs=12)


def test_the_length_of_a_training_is_known_and_enough() -> None:
    assert whole_steps(subject(steps=60), "warmup", 40) == 60
    with pytest.raises(StudyError, match="the probe warmup needs trainings of 40 steps at least"):
        whole_steps(subject(steps=39), "warmup", 40)
    named = replace(KNOBS, steps="total")
    assert whole_steps(subject({"total": 80}, knobs=named), "warmup", 40) == 80
    with pytest.raises(StudyError, match="and total has no value; give it one"):
        whole_steps(subject({"total": None}, knobs=named), "warmup", 40)


@pytest.mark.parametrize(
    ("first", "last", "factor", "counts"),
    [
        (60, 75, 1.6, False),  # comes back from less than twice
        (60, 75, 4.0, True),  # comes back from more
        (60, STEPS, 1.6, True),  # has the time to come back, and does not
        (116, STEPS, 1.6, False),  # has no time left to
        (116, STEPS, 4.0, True),
    ],
)
def test_which_rises_count(first: int, last: int, factor: float, counts: bool) -> None:
    """A rise of the loss of every training at 0.095, above the floor of a tenth of its fall."""
    calm = Program(limit=1e6, optimum=0.03)

    def train(config: Config, seed: int, steps: int) -> Made:
        made = calm(config, seed, steps)
        assert isinstance(made, dict)
        if config["lr"] == 0.095:
            curve = made["train/loss"]
            values = curve.values.copy()  # type: ignore[union-attr]
            level = values[first - 20 : first].mean()
            values[first:last] += (factor - 1) * (level - 0.2 + 0.21)
            made["train/loss"] = replace(curve, values=values)  # type: ignore[type-var]
        return made

    assert bool(edge(train).trouble_at(0.095)) is counts
