"""Memory that keeps growing, and memory that does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulated_batches import OUT_OF_MEMORY, Machine, subject
from simulated_probes import Made, answered, results_of
from small_studies import FINISHED
from tunebook.core.curves import Curve
from tunebook.core.findings import Finding, Verdict
from tunebook.core.results import AttemptRecord, TrialRecord
from tunebook.core.space import Config, Setting
from tunebook.core.trials import FromSequence, Outcome, Trial
from tunebook.procedures.batch_size.leaks import QUESTION, leak, watch_memory
from tunebook.procedures.batch_size.probe import probe
from tunebook.procedures.batch_size.trying import Plan, try_sizes

MB = 2.0**20


def found(memory: np.ndarray, steps: int | None = 1000, limit: int | None = 2**30) -> Finding:
    return leak(record(memory), steps, limit)


def record(memory: np.ndarray, outcome: Outcome = FINISHED) -> TrialRecord:
    trial = Trial("small", 1, Setting(), {}, 0, FromSequence(0))
    curve = Curve.of(np.arange(1, len(memory) + 1), memory)
    attempt = AttemptRecord(1, "token", "", outcome=outcome)
    return TrialRecord(trial, (attempt,), {"memory/bytes": curve})


def test_a_leak_is_found_with_its_pace_and_its_end() -> None:
    noise = np.random.default_rng(0).normal(size=200)
    finding = found(300 * MB + MB * np.arange(200) + 0.2 * MB * noise)
    assert finding.verdict is Verdict.PROBLEM
    assert finding.sentence.startswith("Memory grows by 1 MB a step (")
    assert "a run of 1,000 steps will need 1.27 GB" in finding.sentence
    assert "With 1 GB it runs out after about 7" in finding.sentence
    assert "loss.item()" in finding.advice
    assert finding.numbers["bytes_per_step"] == pytest.approx(MB, rel=0.05)


def test_a_leak_that_a_run_survives_is_to_be_watched() -> None:
    finding = found(300 * MB + MB * np.arange(200), steps=200, limit=2**40)
    assert finding.verdict is Verdict.WATCH
    assert "would last for about" in finding.sentence


def test_healthy_memory_is_left_alone() -> None:
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        filling = 100 * MB * (1 - np.exp(-np.arange(120) / 10))
        jump = 40 * MB * (np.arange(120) > rng.integers(40, 100))
        memory = 300 * MB + filling + jump + 2 * MB * rng.normal(size=120)
        alarms += found(memory, steps=2000).verdict is not Verdict.GOOD
    assert alarms <= 6


def test_a_trial_that_ran_out_of_memory_is_never_good() -> None:
    level = 300 * MB + 0.2 * MB * np.random.default_rng(0).normal(size=200)
    calm = leak(record(level, OUT_OF_MEMORY), 1000, 2**30)
    assert calm.verdict is Verdict.PROBLEM
    assert calm.sentence == (
        "Memory was at 300 MB after 200 steps, without steady growth. The trial itself ran out of "
        "memory."
    )
    assert calm.advice == "Take a smaller batch size, or give trials more memory with --memory."
    growing = leak(record(level + MB * np.arange(200), OUT_OF_MEMORY), 200, 2**40)
    assert growing.verdict is Verdict.PROBLEM
    assert growing.sentence.startswith("Memory grows by 1 MB a step (")
    assert growing.sentence.endswith(" The trial itself ran out of memory.")
    assert "loss.item()" in growing.advice
    few = leak(record(level[:10], OUT_OF_MEMORY), 1000, 2**30)
    assert few.verdict is Verdict.PROBLEM
    assert few.sentence == (
        "Memory was seen at 10 steps, too few to tell. The trial itself ran out of memory."
    )


def test_too_few_looks_leave_it_unknown() -> None:
    finding = found(np.full(10, 300 * MB))
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence == "Memory was seen at 10 steps, too few to tell."
    assert "run.log({...}, step=step)" in finding.advice
    none = leak(None, 100, None)
    assert none.verdict is Verdict.UNKNOWN
    assert none.sentence == "Memory was not watched: the study does not count steps."


def test_steps_that_are_too_fast_are_called_so() -> None:
    fast = record(np.full(10, 300 * MB))
    x = np.arange(1, 2_000_001, 1000)
    curves = {**fast.curves, "loss": Curve.of(x, x, 2e-6 * x)}
    finding = leak(replace(fast, curves=curves), 1000, None)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.sentence == (
        "Memory was seen at 10 steps, too few to tell. Steps are too fast: memory is looked at "
        "every 0.2 s, and 1,999,001 steps took 4 s."
    )
    assert "whose steps take longer (--set)" in finding.advice
    slow = {**fast.curves, "loss": Curve.of([1, 10], [1, 1], [0.0, 30.0])}
    assert "log more often" in leak(replace(fast, curves=slow), 1000, None).advice


def looked_at(machine: Machine) -> list[int]:
    """The lengths of the trials that watch memory, where it is looked at five times a second."""

    def train(config: Config, seed: int, steps: int) -> Made:
        made = machine.train(config, seed, steps)
        assert not isinstance(made, Outcome)
        memory = made["memory/bytes"]
        assert isinstance(memory, Curve)
        _, seen = np.unique(np.floor(memory.seconds / 0.2), return_index=True)
        few = Curve.of(memory.steps[seen], memory.values[seen], memory.seconds[seen])
        return {**made, "memory/bytes": few}

    answer, studies = answered(probe(subject(), {"largest": 64}), train)
    finding = next(f for f in answer.findings if f.question == QUESTION)
    assert finding.verdict is Verdict.GOOD
    watched = [study for study in studies if ".memory" in study.name]
    return [int(study.budget.amount) for study in watched if study.budget is not None]


def test_fast_programs_are_watched_as_long_as_slow_ones() -> None:
    (fast,) = looked_at(Machine(fixed=3e-5, per_example=1e-9))
    assert fast == pytest.approx(12 / 3e-5, rel=0.1)
    (slow,) = looked_at(Machine(fixed=3e-2, per_example=1e-9))
    assert slow == pytest.approx(12 / 3e-2, rel=0.1)


def test_it_is_watched_for_long_enough() -> None:
    procedure = try_sizes(subject(), Plan((64,)))
    study = next(procedure)
    try:
        while True:
            study = procedure.send(results_of(study, Machine().train))
    except StopIteration as ended:
        (size,) = ended.value.tried
    watching = watch_memory(subject(), size, 1, 2**30)
    study = next(watching)
    assert study.budget is not None
    assert study.budget.amount == pytest.approx(12 / 0.0164, rel=0.05)
    assert study.resources.memory == 2**30
    # It had only 20 looks: once more, and longer.
    longer = watching.send(results_of(study, Machine(every=36).train))
    assert longer.name.endswith(".memory-2")
    assert longer.budget is not None
    assert longer.budget.amount >= 2.5 * study.budget.amount
