"""Steps to a goal: the planted critical size is found, and what is not known is said."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace
from typing import TypeVar

import pytest

from simulated_batches import KNOBS, Machine, subject
from simulated_probes import Made, answered, results_of, subject_of
from simulated_remedies import BROKEN
from tunebook.core.domains import Value
from tunebook.core.findings import Verdict
from tunebook.core.objective import Metric
from tunebook.core.results import Results
from tunebook.core.space import Config, Space
from tunebook.core.study import Study
from tunebook.procedures.batch_size.bottleneck import Measured
from tunebook.procedures.batch_size.goals import Goal
from tunebook.procedures.batch_size.probe import _measured, probe
from tunebook.procedures.batch_size.to_goal import Reached, reach_goal
from tunebook.procedures.batch_size.trying import Plan, powers, try_sizes
from tunebook.procedures.subjects import Subject
from tunebook.stats.critical_batch import BatchScaling, NoFit
from tunebook.stats.throughput import affine_time, saturation

T = TypeVar("T")
CRITICAL, FEWEST = 100.0, 60.0


def planted(size: float) -> float:
    return FEWEST * (1 + CRITICAL / size)


MACHINE = Machine(fixed=0.01, per_example=1e-4, steps=planted, gradient=(1.0, 80.0))


def reached(machine: Machine, goal: Goal, about: Subject | None = None) -> Reached:
    about = about or subject()
    found = _run(try_sizes(about, Plan(powers(8, 512))), machine)
    best = found.fitting[-1]
    measured = Measured(found, affine_time(found.timed), saturation(found.timed), best)
    return _run(reach_goal(about, goal, measured), machine)


def measured_by(machine: Machine) -> Measured:
    """As the probe measures it: what is recommended is where throughput stops rising."""
    found = _run(try_sizes(subject(), Plan(powers(8, 512))), machine)
    return _measured(found)


def _run(procedure: Generator[Study, Results, T], machine: Machine) -> T:
    study = next(procedure)
    while True:
        try:
            study = procedure.send(results_of(study, machine.train))
        except StopIteration as ended:
            found: T = ended.value
            return found


GOAL = Goal(Metric("valid/error"), 0.1)


@pytest.mark.parametrize(
    ("choices", "decayed"), [(["cosine", "constant"], ""), (["cosine", "linear"], "cosine")]
)
def test_the_rate_is_constant_where_it_can_be(choices: list[Value], decayed: str) -> None:
    fixed: dict[str, Value] = {"lr": 0.01, "batch_size": 64, "eval_every": 20}
    space = Space.of(scientific={"plan": choices}, fixed=fixed)
    about = subject_of(
        {**fixed, "plan": "cosine"}, replace(KNOBS, schedule="plan"), steps=400, space=space
    )
    found = reached(MACHINE, replace(GOAL, sizes=(64, 128)), about)
    assert found.decayed == decayed
    held = {record.trial.config["plan"] for one in found.sizes for record in one.seeds}
    assert held == {decayed or "constant"}


def test_the_planted_critical_size_is_found() -> None:
    found = reached(MACHINE, GOAL)
    assert [one.size for one in found.sizes] == [8, 32, 128, 512]
    assert isinstance(found.fit, BatchScaling)
    assert CRITICAL in found.fit.critical
    assert found.fit.critical.estimate == pytest.approx(CRITICAL, rel=0.4)
    assert found.fit.fewest_steps.estimate == pytest.approx(FEWEST, rel=0.3)
    # The best rate grows with the root of the size: found at each.
    for one in found.sizes:
        assert one.sweep.best == pytest.approx(0.01 * math.sqrt(one.size / 64), rel=0.5)
        assert one.boundary is None
    # sqrt(B_crit t0 / t1) = 100.
    assert found.soonest_size in (64, 128)
    assert found.early is not None and found.early.size == pytest.approx(80, rel=0.2)
    assert found.late is not None and found.late.size == pytest.approx(80, rel=0.3)


def test_only_sizes_that_were_timed_and_are_not_above_those_trained_at_may_be_taken() -> None:
    found = reached(MACHINE, replace(GOAL, sizes=(16, 48, 128)))
    assert found.candidates == (16, 32, 48, 64, 128)
    assert found.soonest is not None
    assert len(found.soonest.totals) == len(found.candidates)


def test_larger_sizes_get_no_more_steps_than_smaller_ones_needed() -> None:
    limits = [one.limit for one in reached(MACHINE, GOAL).sizes]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] == 400 * 8


def test_perfect_scaling_leaves_the_critical_size_open_above() -> None:
    found = reached(Machine(steps=lambda size: 20_000 / size), GOAL)
    assert isinstance(found.fit, BatchScaling)
    assert math.isinf(found.fit.critical.high)
    assert found.fit.critical.low > 100


def test_a_goal_out_of_reach_is_no_fit() -> None:
    found = reached(MACHINE, replace(GOAL, value=1e-6))
    assert isinstance(found.fit, NoFit)
    assert found.soonest_size is None
    assert all(one.reached == 0 for one in found.sizes)


@pytest.mark.parametrize(
    ("machine", "sizes", "end"),
    [
        (
            replace(MACHINE, fixed=0.002),
            (),
            "where throughput stops rising: a larger one takes no less time",
        ),
        (MACHINE, (16, 32, 64), "the largest that was tried: a larger one may be sooner still"),
        (replace(MACHINE, fixed=1.0, largest=256), (), "the largest that fits into memory"),
        (replace(MACHINE, fixed=1.0), (), "the largest that was tried: a larger one may be soo"),
    ],
)
def test_why_no_larger_size_is_the_soonest(
    machine: Machine, sizes: tuple[int, ...], end: str
) -> None:
    found = _run(
        reach_goal(subject(), replace(GOAL, sizes=sizes), measured_by(machine)),
        machine,
    )
    assert found.end.startswith(end)


def test_luck_of_evaluations_does_not_hide_the_critical_size() -> None:
    held = 0
    for seed in range(6):
        found = reached(replace(MACHINE, luck=0.1), replace(GOAL, seeds=4), subject(seed=seed))
        assert isinstance(found.fit, BatchScaling)
        assert found.fit.critical.estimate == pytest.approx(CRITICAL, rel=0.5)
        held += CRITICAL in found.fit.critical
    assert held >= 5


def test_evaluations_are_as_close_at_every_size() -> None:
    found = reached(MACHINE, GOAL)
    for one in found.sizes:
        interval = float(str(one.seeds[0].trial.config["eval_every"]))
        assert one.steps / 25 == pytest.approx(interval, rel=0.5, abs=1.0)


def test_without_norms_the_noise_scale_is_unknown() -> None:
    found = reached(replace(MACHINE, gradient=None), GOAL)
    assert found.early is None
    assert found.late is None


def test_a_best_rate_far_away_is_followed_and_its_end_is_told() -> None:
    about = subject()
    far = dict(about.asked.start) | {"lr": 1e-5}
    found = reached(
        MACHINE,
        replace(GOAL, sizes=(32, 128)),
        Subject(replace(about.asked, start=tuple(far.items()))),
    )
    assert found.sizes[0].boundary == "high" or found.sizes[0].reached
    assert len(found.sizes[0].sweep.values) > 5


def test_sizes_that_were_not_shown_to_fit_are_left_out() -> None:
    options: dict[str, Value] = {"goal": 0.1, "sizes": "16,64,256,4096"}
    answer, studies = answered(probe(subject(), {"largest": 512, **options}), MACHINE.train)
    finding = answer.findings[0]
    assert finding.verdict is not Verdict.UNKNOWN
    assert (
        " at 256. Left out, as not shown to fit: 4,096 (sizes up to 512 were, and larger ones were "
        "not tried). The critical batch size is "
    ) in finding.sentence
    assert "Give --sizes smaller ones." in finding.advice
    assert not any("goal-4096" in study.name for study in studies)


@pytest.mark.parametrize("sizes", ["64,4096", "1024,4096"])
def test_too_few_sizes_that_fit_leave_it_to_throughput(sizes: str) -> None:
    machine = replace(MACHINE, largest=512)
    without, _ = answered(probe(subject(), {}), machine.train)
    answer, studies = answered(probe(subject(), {"goal": 0.1, "sizes": sizes}), machine.train)
    finding = answer.findings[0]
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence.startswith("Left out, as not shown to fit: ")
    assert finding.sentence.endswith(
        "(sizes up to 512 were, and 1,024 ran out of memory (its processes used 900 MB, the limit "
        "is 800 MB)). No curve was fitted: fewer than two sizes were left to train at."
    )
    assert finding.advice.startswith("Give --sizes smaller ones.")
    assert not any("goal-" in study.name for study in studies)
    assert (answer.edits, answer.findings[1]) == (without.edits, without.findings[0])
    assert without.edits


def test_with_a_goal_the_size_that_is_soonest_is_proposed() -> None:
    answer, studies = answered(probe(subject(), {"largest": 512, "goal": 0.1}), MACHINE.train)
    (edit,) = answer.edits
    assert edit.because == "it reaches valid/error <= 0.1 soonest"
    assert answer.findings[0].question.key == "probe-critical-batch"
    size = answer.findings[0].numbers["soonest"]
    assert f"Set batch_size to {size:.0f}, which reaches the goal" in answer.findings[1].advice
    assert answer.figures[0].key == "probe-critical-batch"
    names = [study.name.rpartition(".")[2] for study in studies]
    assert "goal-8" in names and "goal-8-seeds" in names


def test_a_size_that_may_be_the_soonest_stays() -> None:
    # sqrt(B_crit t0 / t1) is between 64 and 128, a little nearer to 64.
    between = replace(MACHINE, fixed=0.0075)
    said = set()
    for size in (64, 128):
        options: dict[str, Value] = {"largest": 512, "goal": 0.1}
        answer, _ = answered(probe(subject(size), options), between.train)
        goal, sizes = answer.findings[:2]
        assert (goal.verdict, sizes.verdict) == (Verdict.GOOD, Verdict.GOOD)
        assert (answer.edits, answer.retune) == ((), ())
        said.add(sizes.advice.partition(".")[0])
    assert said in (
        {
            "batch_size can stay at 64, which reaches the goal soonest",
            "batch_size can stay at 128, which may reach the goal as soon as 64",
        },
        {
            "batch_size can stay at 128, which reaches the goal soonest",
            "batch_size can stay at 64, which may reach the goal as soon as 128",
        },
    )


def test_two_sizes_are_no_curve_and_nothing_is_proposed() -> None:
    """Their true times are equal: which one is the soonest is luck."""
    even = replace(MACHINE, fixed=0.02, steps=lambda size: 2.64 / (0.02 + 1e-4 * size))
    as_good = 0
    for seed in range(8):
        options: dict[str, Value] = {"largest": 512, "goal": 0.1, "sizes": "64,128"}
        answer, _ = answered(probe(subject(seed=seed), options), even.train)
        goal, sizes = answer.findings[:2]
        assert (goal.verdict, sizes.verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
        assert (answer.edits, answer.retune) == ((), ())
        assert "Take a batch size of" not in goal.advice
        as_good += "may be as good)" in goal.sentence
    assert as_good >= 6
    assert sizes.advice.startswith(
        "Which batch size reaches the goal soonest is not known, so that none is proposed (now 64)."
    )


def test_without_a_curve_sizes_within_their_error_are_possible() -> None:
    few = replace(GOAL, sizes=(16, 128))
    # Four times the time: no luck.
    slower = reached(replace(MACHINE, fixed=1e-4, per_example=1e-6), few)
    assert slower.soonest is not None and slower.soonest.possible == (128.0,)
    alone = reached(replace(MACHINE, fixed=1e-4, per_example=1e-6), replace(few, seeds=1))
    assert alone.soonest is not None and alone.soonest.possible == (16.0, 128.0)


def test_what_does_not_fit_is_replaced_though_the_goal_leaves_it_open() -> None:
    options: dict[str, Value] = {"goal": 0.1, "sizes": "64,128"}
    answer, _ = answered(probe(subject(1024), options), replace(MACHINE, largest=512).train)
    assert answer.findings[0].verdict is Verdict.UNKNOWN
    assert answer.findings[1].advice.startswith("Set batch_size to 512 (now 1,024). 1,024 does not")
    assert len(answer.edits) == 1


def test_a_goal_does_not_lower_a_size_above_trials_that_broke() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        if config["batch_size"] == 256:
            return BROKEN
        return MACHINE.train(config, seed, steps)

    answer, _ = answered(probe(subject(512), {"goal": 0.1, "sizes": "8,32,128"}), train)
    goal, sizes = answer.findings[:2]
    assert (goal.verdict, sizes.verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
    assert goal.advice.startswith("The present size is not among these: trials at or below it br")
    assert "--retry-failed" in sizes.advice
    assert answer.edits == ()


def test_a_goal_that_no_size_reached_leaves_it_to_throughput() -> None:
    """What is proposed and what the finding says are one choice, with a goal or without."""
    machine = replace(MACHINE, fixed=0.002)
    for size, stays in ((32, False), (128, True), (256, True)):
        without, _ = answered(probe(subject(size), {"largest": 512}), machine.train)
        missed, _ = answered(probe(subject(size), {"largest": 512, "goal": 1e-9}), machine.train)
        assert (missed.edits, missed.findings[1]) == (without.edits, without.findings[0])
        assert ("can stay at" in missed.findings[1].advice) is stays
        assert (missed.edits == ()) is stays
