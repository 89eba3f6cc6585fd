"""Batch sizes are tried until memory runs out, the data end, or a step takes too long."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulated_batches import OUT_OF_MEMORY, Machine, subject
from simulated_probes import Made, Training, results_of
from tunebook.core.commands import Command
from tunebook.core.curves import Curve
from tunebook.core.knobs import Knobs
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.procedures.batch_size.tried import Fate, Trying
from tunebook.procedures.batch_size.trying import Plan, powers, try_sizes
from tunebook.procedures.subjects import Subject

FAILED = Outcome(OutcomeKind.FAILED, "ValueError: no batch")


def tried(
    train: Training, plan: Plan | None = None, about: Subject | None = None
) -> tuple[Trying, list[Study]]:
    procedure = try_sizes(about or subject(), plan or Plan(powers(8, 4096)))
    studies = [next(procedure)]
    while True:
        try:
            studies.append(procedure.send(results_of(studies[-1], train)))
        except StopIteration as ended:
            found: Trying = ended.value
            return found, studies


def sizes_of(trying: Trying) -> list[int]:
    return [one.size for one in trying.tried]


def test_powers_of_two_are_tried_until_memory_runs_out() -> None:
    found, studies = tried(Machine(largest=256).train)
    assert [t.size for t in found.fitting] == [8, 16, 32, 64, 128, 256]
    assert found.tried[6].fate is Fate.OUT_OF_MEMORY
    assert found.ended == ("512 ran out of memory (its processes used 900 MB, the limit is 800 MB)")
    assert [study.name.rpartition(".")[2] for study in studies] == [
        "sizes-pilot-8",
        "sizes-1",
        "sizes-2",
    ]


def test_memory_that_runs_out_at_once_leads_to_smaller_sizes() -> None:
    found, _ = tried(Machine(largest=3).train)
    assert [t.size for t in found.fitting] == [2]
    assert found.ended.startswith("4 ran out of memory")


def test_nothing_fits() -> None:
    found, _ = tried(lambda *_: OUT_OF_MEMORY)
    assert found.fitting == ()
    assert found.ended.startswith("1 ran out of memory")


def test_the_largest_that_was_asked_for_is_the_last() -> None:
    found, _ = tried(Machine().train, Plan(powers(16, 64)))
    assert sizes_of(found) == [16, 32, 64]
    assert found.ended == "larger ones were not tried"


def test_no_batch_is_larger_than_the_data() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = Machine().train(config, seed, steps)
        assert not isinstance(made, Outcome)
        return {**made, "train/examples": Curve.of([steps], [1000.0])}

    found, _ = tried(train)
    assert sizes_of(found)[-1] == 512
    assert found.ended == "there are 1,000 training examples"


def test_steps_that_would_take_too_long_are_not_tried() -> None:
    found, _ = tried(Machine(fixed=0.0, per_example=0.01).train, Plan(powers(8, 65536)))
    assert 64 <= sizes_of(found)[-1] < 16384
    assert "would take about" in found.ended


def test_where_throughput_has_stopped_a_few_steps_show_what_fits() -> None:
    found, studies = tried(Machine(fixed=1e-5, per_example=1e-3).train)
    assert studies[-1].budget is not None and studies[-1].budget.amount == 3
    assert found.fitting[-1].times is None
    assert found.fitting[-1].fate is Fate.FITS


def test_a_failure_ends_it_and_is_told() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return FAILED if config["batch_size"] == 32 else Machine().train(config, seed, steps)

    found, _ = tried(train)
    assert [t.size for t in found.fitting] == [8, 16]
    assert found.ended == "32 failed (ValueError: no batch)"


def again(studies: list[Study]) -> list[tuple[str, int]]:
    names = [(study.name.rpartition(".")[2], study.trials) for study in studies]
    return [(name, trials) for name, trials in names if name.startswith("sizes-again")]


def test_a_program_that_breaks_is_tried_as_often_as_pauses_a_study() -> None:
    found, studies = tried(lambda *_: FAILED)
    assert again(studies) == [("sizes-again-8", 5)]
    assert len(studies) == 3
    assert found.fitting == ()
    assert found.ended == "8 failed (ValueError: no batch)"


def test_one_that_breaks_once_goes_on() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made.append(steps)
        return FAILED if len(made) <= 2 else Machine().train(config, seed, steps)

    made: list[int] = []
    found, studies = tried(train)
    assert again(studies) == [("sizes-again-8", 5)]
    assert len(found.fitting) == len(powers(8, 4096))
    _, healthy = tried(Machine().train)
    assert again(healthy) == []


def read_in_bunches(every: float, bunch: int = 1) -> Training:
    """Points have the time at which they were read, or in which their output was flushed."""

    def train(config: Config, seed: int, steps: int) -> Made:
        machine = Machine(fixed=0.003, per_example=1e-6)
        made = machine.train(config, seed, steps)
        assert not isinstance(made, Outcome)
        loss = made["train/loss"]
        assert isinstance(loss, Curve)
        ends = np.minimum((np.arange(steps) // bunch + 1) * bunch, steps) - 1
        read = np.ceil(loss.seconds[ends] / every) * every
        return {"train/loss": Curve.of(loss.steps, loss.values, read)}

    return train


@pytest.mark.parametrize(("every", "bunch"), [(0.1, 1), (1e-6, 120), (0.5, 1)])
def test_lines_that_come_in_bunches_are_timed_by_more_steps(every: float, bunch: int) -> None:
    found, studies = tried(read_in_bunches(every, bunch), Plan(powers(8, 64)))
    assert "sizes-pilot-2-8" in [study.name.rpartition(".")[2] for study in studies]
    assert [t.size for t in found.fitting] == [8, 16, 32, 64]
    for size, times in found.timed.items():
        assert times.median.estimate == pytest.approx(0.003 + 1e-6 * size, rel=0.05)
    assert len(found.timed) == 4


def test_lines_of_a_file_are_taken_far_enough_apart() -> None:
    """Steps of 140 ms, read every 100: neighbours are 100 or 200 apart, and most are 100."""
    about = subject()
    command = Command(("python", "train.py", "{overrides}"), json_lines=("{run_dir}/log.jsonl",))
    study = replace(about.study, program=None, command=command)

    def train(config: Config, seed: int, steps: int) -> Made:
        made = Machine(fixed=0.14, per_example=0.0).train(config, seed, steps)
        assert not isinstance(made, Outcome)
        loss = made["train/loss"]
        assert isinstance(loss, Curve)
        read = np.ceil(loss.seconds / 0.1) * 0.1
        return {"valid/error": Curve.of(loss.steps, loss.values, read)}

    found, _ = tried(train, Plan(powers(8, 64)), Subject(replace(about.asked, about=study)))
    assert len(found.timed) == 4
    for times in found.timed.values():
        assert times.median.estimate == pytest.approx(0.14, rel=0.06)


def test_medians_and_drift_come_from_repeated_trials() -> None:
    quiet, _ = tried(Machine().train)
    busy, _ = tried(Machine(drift=0.3).train)
    assert quiet.drift < 0.02
    assert 0.1 < busy.drift < 0.4
    seconds = quiet.timed[64.0].median.estimate
    assert seconds == pytest.approx(0.01 + 64e-4, rel=0.02)


def test_a_program_that_logs_seldom_gets_more_steps() -> None:
    found, studies = tried(Machine(every=50, fixed=1e-3, per_example=1e-6).train)
    assert "sizes-whole-8" in studies[1].name
    assert len(found.timed) == len(powers(8, 4096))


def test_short_trials_without_an_evaluation_are_judged_by_what_they_log() -> None:
    """Else each would count as failed, and failures in a row pause a study."""

    def train(config: Config, seed: int, steps: int) -> Made:
        made = Machine(fixed=1e-5, per_example=1e-3).train(config, seed, steps)
        assert not isinstance(made, Outcome)
        return {"train/loss": made["valid/error"]}

    found, studies = tried(train)
    assert [study.objective.metric.name for study in studies[1:]] == ["train/loss"] * 3
    assert found.ended == "larger ones were not tried"


def test_what_fits_is_shown_by_as_many_steps_as_a_program_needs_to_log() -> None:
    _, studies = tried(Machine(every=20, fixed=1e-6, per_example=1e-4).train)
    assert studies[-1].budget is not None and studies[-1].budget.amount == 20


def test_timing_keeps_evaluations_away_and_the_limit_on() -> None:
    about = subject(knobs=Knobs(batch_size="batch_size", eval_interval="eval_every"))
    _, studies = tried(Machine().train, Plan((8,), memory=2**30), about)
    study = studies[-1]
    assert study.budget is not None
    assert study.config(study.space.settings()[0], {})["eval_every"] == study.budget.amount
    assert study.resources.memory == 2**30


def test_epochs_are_counted_in_examples() -> None:
    """1,000 examples; a trial's length is in epochs."""
    about = subject()
    study = about.study
    knobs = replace(study.knobs, steps="lr", steps_unit="epochs")
    epochs = Subject(replace(about.asked, about=replace(study, knobs=knobs, budget=None)))

    def train(config: Config, seed: int, steps: int) -> Made:
        del steps
        amount, size = int(str(config["lr"])), int(str(config["batch_size"]))
        x = np.arange(1, max(amount * 1000 // size, 1) + 1)
        return {"valid/error": Curve.of(x, 1.0 / x, 0.01 * x)}

    found, studies = tried(train, Plan(powers(8, 128)), epochs)
    amounts = [s.config(s.space.settings()[0], {})["lr"] for s in studies]
    assert amounts[0] == 1
    assert amounts[-1] == pytest.approx(128 * 200 / 1000, rel=0.5)
    assert len(found.timed) == 5


def test_results_alone_decide() -> None:
    """The same results give the same studies: what continuing a probe rests on."""
    one, first = tried(Machine(largest=512, drift=0.1).train)
    other, second = tried(Machine(largest=512, drift=0.1).train)
    assert first == second
    assert sizes_of(one) == sizes_of(other)
    assert isinstance(results_of(first[0], Machine().train), Results)
