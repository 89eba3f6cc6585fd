"""The bottleneck is named, or it is said what would name it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from simulated_batches import Machine, subject
from simulated_probes import Made, answered
from tunebook.core.commands import Command
from tunebook.core.findings import Finding, Verdict
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.procedures.batch_size.bottleneck import QUESTION, SAY_DATA, processes
from tunebook.procedures.batch_size.probe import probe
from tunebook.procedures.subjects import Subject


def finding_of(machine: Machine, largest: int = 4096, about: Subject | None = None) -> Finding:
    answer, _ = answered(probe(about or subject(), {"largest": largest}), machine.train)
    return next(f for f in answer.findings if f.question == QUESTION)


def finding_by(machine: Callable[[float], Machine], largest: int) -> Finding:
    def train(config: Config, seed: int, steps: int) -> Made:
        return machine(float(str(config["batch_size"]))).train(config, seed, steps)

    answer, _ = answered(probe(subject(), {"largest": largest}), train)
    return next(f for f in answer.findings if f.question == QUESTION)


@pytest.mark.parametrize(("share", "verdict"), [(0.3, Verdict.WATCH), (0.8, Verdict.PROBLEM)])
def test_a_slow_loader_is_named(share: float, verdict: Verdict) -> None:
    found = finding_of(Machine(waits={"data": share}))
    assert found.verdict is verdict
    assert found.sentence.startswith("Input: at a batch size of ")
    assert f"{100 * share:.0f}% waiting for data" in found.sentence
    assert "loader processes" in found.advice


def test_a_busy_device_is_good() -> None:
    found = finding_of(Machine(fixed=0.001, waits={"data": 0.01}))
    assert found.verdict is Verdict.GOOD
    fixed, _, rest = found.sentence.partition(" of the ")
    assert fixed.startswith("Compute per example: ")
    assert rest.endswith(
        " of a step (14%) do not grow with the batch, at a batch size of 64. Waiting for data "
        "takes 1.0%."
    )


def test_without_timings_the_line_of_code_is_given() -> None:
    found = finding_of(Machine(fixed=0.001))
    assert found.verdict is Verdict.UNKNOWN
    assert 'with run.timing("data"): batch = next(batches)' in found.advice


def test_a_fixed_cost_is_named() -> None:
    found = finding_of(Machine(fixed=0.1, per_example=1e-6), largest=256)
    assert found.verdict is Verdict.GOOD
    assert found.sentence.startswith(
        "Fixed cost per step: 100 ms of the 100 ms of a step (100%) do"
    )
    assert found.sentence.endswith(" not grow with the batch, at a batch size of 256.")
    assert found.advice.startswith(
        "A larger batch takes hardly longer, as long as most of a step is fixed cost."
    )


def test_memory_that_ends_a_rise_is_named() -> None:
    found = finding_of(Machine(fixed=0.1, per_example=1e-6, largest=128))
    assert found.verdict is Verdict.WATCH
    assert found.sentence.startswith(
        "Memory capacity: throughput still rises at a batch size of 128"
    )
    assert "it brings no throughput" in found.advice


def test_other_processes_are_named_where_they_are_timed() -> None:
    found = finding_of(Machine(waits={"data": 0.0, "sync": 0.6}))
    assert found.verdict is Verdict.PROBLEM
    assert found.sentence.startswith("Synchronisation: ")


def test_the_fixed_cost_of_several_processes_stays_unknown() -> None:
    about = subject()
    command = Command(("torchrun", "--nproc-per-node=2", "train.py", "{overrides}"))
    study: Study = replace(about.study, program=None, command=command)
    several = Subject(replace(about.asked, about=study))
    found = finding_of(Machine(fixed=0.1, per_example=1e-6), 256, several)
    assert found.verdict is Verdict.UNKNOWN
    assert "synchronisation of 2 processes" in found.sentence
    assert 'run.timing("sync")' in found.advice


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("torchrun", "--nproc-per-node=4", "train.py"), 4),
        (("torchrun", "--nproc_per_node", "2", "train.py"), 2),
        (("torchrun", "--nproc-per-node=gpu", "train.py"), 1),
        (("python", "train.py"), 1),
    ],
)
def test_processes_are_counted(arguments: tuple[str, ...], count: int) -> None:
    study = replace(subject().study, program=None, command=Command((*arguments, "{overrides}")))
    assert processes(study) == count


def test_a_busy_machine_leaves_it_unknown() -> None:
    found = finding_of(Machine(drift=0.5, waits={"data": 0.01}))
    assert found.verdict is Verdict.UNKNOWN
    assert found.sentence.startswith("The machine was busy")


def falling(waits: dict[str, float] | None) -> Finding:
    """From 128 on, an example costs more."""

    def machine(size: float) -> Machine:
        slower = 1e-4 * (1 if size <= 128 else math.sqrt(size / 128))
        slow = {p: share if size > 128 else 0.0 for p, share in (waits or {}).items()}
        return Machine(fixed=0.001, per_example=slower, waits=slow)

    return finding_by(machine, 512)


def test_falling_throughput_is_memorys_where_no_loader_slows_down() -> None:
    found = falling({"data": 0.02})
    assert found.verdict is Verdict.WATCH
    assert found.sentence.startswith("Memory: throughput falls from ")
    assert found.sentence.endswith(" at 512, where waiting for data takes 2.0%.")


def test_falling_throughput_of_a_loader_is_its_own() -> None:
    found = falling({"data": 0.5})
    assert found.verdict is Verdict.WATCH
    assert found.sentence.startswith("Input: throughput falls from ")
    assert found.sentence.endswith(" at 512, where a step spends 50% waiting for data.")


def test_falling_throughput_is_unknown_where_waiting_is() -> None:
    found = falling(None)
    assert found.verdict is Verdict.UNKNOWN
    assert found.sentence.startswith("Throughput falls from ")
    assert found.sentence.endswith(
        "whether the loader or memory slows down, the program does not say."
    )
    assert found.advice == SAY_DATA


def prefetched(waits: bool, loader: bool = True) -> Finding:
    """10 ms of a step whatever the size, until 6,400 examples a second are all there is."""

    def machine(size: float) -> Machine:
        whole = max(0.01, size / 6400)
        share = 1.0 - 0.01 / whole if loader else 0.0
        return Machine(fixed=whole, per_example=0.0, waits={"data": share} if waits else None)

    return finding_by(machine, 1024)


def test_a_loader_that_keeps_up_until_throughput_stops_is_named() -> None:
    found = prefetched(waits=True)
    assert found.verdict is Verdict.WATCH
    assert found.sentence == (
        "Input: at a batch size of 128 a step spends 50% waiting for data. Throughput stops rising "
        "at 64 for that, and 0% there."
    )
    assert "a larger batch does not help" in found.advice
    assert found.numbers["share_data"] == pytest.approx(0.0, abs=0.01)
    assert found.numbers["share_data_above"] == pytest.approx(0.5, abs=0.01)
    assert "fixed_share" not in found.numbers


def test_a_device_that_is_full_from_a_size_on_is_busy() -> None:
    """The healthy twin: the same times, and no waiting."""
    found = prefetched(waits=True, loader=False)
    assert found.verdict is Verdict.GOOD
    assert found.sentence == (
        "Compute per example: from a batch size of 64 on, steps take longer as batches grow. "
        "Waiting for data takes 0%."
    )


def test_nothing_is_read_from_a_line_that_does_not_fit() -> None:
    found = prefetched(waits=False)
    assert found.verdict is Verdict.UNKNOWN
    assert found.sentence.startswith("Times of steps follow no line, off by ")
    assert found.advice == SAY_DATA
    assert found.numbers == {}
