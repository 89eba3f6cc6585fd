"""Which batch size to take: planted throughput is found, and a busy machine leaves it unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulated_batches import KNOBS, OUT_OF_MEMORY, Machine, subject
from simulated_probes import answered
from tunebook.core.domains import Float, Int, Value
from tunebook.core.edits import SetParameter
from tunebook.core.errors import StudyError
from tunebook.core.findings import Finding, Verdict
from tunebook.core.space import Fixed, Space
from tunebook.procedures.answers import Answer
from tunebook.procedures.batch_size.probe import QUESTION, probe
from tunebook.procedures.subjects import Subject


def asked(
    machine: Machine, about: Subject | None = None, **options: Value
) -> tuple[Answer, Finding]:
    answer, _ = answered(probe(about or subject(), {"largest": 2048, **options}), machine.train)
    return answer, next(f for f in answer.findings if f.question == QUESTION)


# A step takes as long up to 256 examples, and in proportion from there on: t0 / t1 = 1000.
LINE = Machine(fixed=0.02, per_example=2e-5)


def test_the_size_where_throughput_stops_rising_is_recommended() -> None:
    full = Machine(fixed=0.002, per_example=1e-4)
    answer, finding = asked(full)
    # 64 to 128 brings 14%, 128 to 256 only 7%.
    assert finding.numbers["recommended"] in (128.0, 256.0)
    assert finding.numbers["seconds_fixed"] == pytest.approx(0.002, rel=0.1)
    assert finding.numbers["seconds_per_example"] == pytest.approx(1e-4, rel=0.05)
    assert "Throughput stops rising at" in finding.sentence
    assert finding.verdict is Verdict.WATCH
    (edit,) = answer.edits
    assert isinstance(edit, SetParameter)
    assert (edit.name, edit.source) == (
        "batch_size",
        Fixed(int(finding.numbers["recommended"])),
    )
    assert edit.because.startswith("it is the smallest about as fast as the fastest, ")
    assert edit.because.endswith(" examples a second")


def test_never_above_the_size_where_throughput_stops() -> None:
    for seed in range(15):
        about = subject(seed=seed)
        _, finding = asked(Machine(fixed=0.002, per_example=1e-4, noise=0.1, drift=0.02), about)
        # From 128 on, a doubling brings less than a tenth.
        assert finding.numbers["recommended"] <= 128


def test_the_right_size_already_is_left_alone() -> None:
    answer, finding = asked(Machine(fixed=0.002, per_example=1e-4), subject(256))
    assert finding.verdict is Verdict.GOOD
    assert answer.edits == ()
    assert answer.retune == ()
    # It may stay, as it is at hand, and it is said that it needs not be so large.
    assert finding.advice.startswith("batch_size can stay at 256: 128 is about as fast. ")
    _, finding = asked(Machine(fixed=0.002, per_example=1e-4), subject(128))
    assert finding.advice.startswith("batch_size can stay at 128. ")


def test_memory_is_the_limit_while_throughput_rises() -> None:
    answer, finding = asked(Machine(fixed=0.1, per_example=1e-6, largest=512))
    assert finding.numbers["recommended"] == 512
    assert "Batch sizes from 8 to 512 fit; 1,024 ran out of memory" in finding.sentence
    assert "Set batch_size to 512 (now 64, 8 times the examples per second)." in finding.advice
    assert answer.edits


def test_what_must_be_tuned_again_is_named() -> None:
    space = Space.of(
        nuisance={"lr": Float(1e-4, 1.0, log=True), "dropout": Float(0.0, 0.5)},
        fixed={"batch_size": 64, "eval_every": 20},
    )
    about = subject(space=space)
    about = Subject(replace(about.asked, start=(*about.asked.start, ("dropout", 0.1))))
    answer, finding = asked(Machine(fixed=0.1, per_example=1e-6), about)
    assert answer.retune == ("lr", "dropout", "max_steps")
    assert "Then tune again: lr, dropout, max_steps" in finding.advice
    assert "probe again after a change" in finding.advice


def test_a_searched_batch_size_is_a_finding() -> None:
    space = Space.of(
        nuisance={"batch_size": Int(16, 512, log=True)}, fixed={"lr": 0.01, "eval_every": 20}
    )
    answer, finding = asked(Machine(fixed=0.002, per_example=1e-4), subject(128, space=space))
    assert finding.verdict is Verdict.WATCH
    size = int(finding.numbers["recommended"])
    assert finding.advice.startswith(
        f"Set batch_size to {size}, for all trials. The study searches"
    )
    assert "do not choose it by validation error" in finding.advice
    (edit,) = answer.edits
    assert isinstance(edit, SetParameter)
    assert edit.source == Fixed(size)


def test_accumulation_is_off_while_timing() -> None:
    space = Space.of(fixed={"lr": 0.01, "batch_size": 64, "eval_every": 20, "accumulate": 4})
    about = subject(space=space, knobs=replace(KNOBS, accumulation="accumulate"))
    about = Subject(replace(about.asked, start=(*about.asked.start, ("accumulate", 4))))
    answer, studies = answered(probe(about, {"largest": 64}), LINE.train)
    assert studies[0].config(studies[0].space.settings()[0], {})["accumulate"] == 1
    assert "Gradient accumulation brings no throughput" in answer.findings[0].advice


def test_sizes_of_one_device_are_called_so() -> None:
    _, finding = asked(LINE, subject(knobs=replace(KNOBS, batch_size_per="device")), largest=64)
    assert "those of one device or process" in finding.advice


def test_a_busy_machine_leaves_it_unknown() -> None:
    answer, finding = asked(Machine(drift=0.5))
    assert finding.verdict is Verdict.UNKNOWN
    assert "the machine was busy" in finding.sentence
    assert "--again" in finding.advice
    assert answer.edits == ()


def test_nothing_that_fits_is_a_problem() -> None:
    answer, _ = answered(probe(subject(), {}), lambda *_: OUT_OF_MEMORY)
    (finding,) = answer.findings
    assert finding.verdict is Verdict.PROBLEM
    assert finding.sentence.startswith("No batch size works: 1 ran out of memory")
    assert finding.advice.endswith("give it more memory with --memory.")


def test_too_few_points_leave_it_unknown() -> None:
    answer, _ = answered(probe(subject(), {"largest": 64, "steps": 8}), Machine(every=4).train)
    (finding,) = answer.findings
    assert finding.verdict is Verdict.UNKNOWN
    assert "none could be timed" in finding.sentence
    assert "run.log({'train/loss': loss}, step=step)" in finding.advice


def test_sizes_that_leave_nothing_are_refused() -> None:
    with pytest.raises(StudyError, match="the largest batch size, 4, is below the smallest, 8"):
        answered(probe(subject(), {"largest": 4}), LINE.train)


def test_the_limit_comes_from_the_option_the_study_or_what_is_free() -> None:
    for name, value, limit in (
        ("memory", 2**31, 2**31),
        ("memory", "4GB", 2**32),
        ("free_memory", 2**30, 2**30),
    ):
        study = next(probe(subject(), {name: value, "free_memory": 2**30}))
        assert study.resources.memory == limit
    assert next(probe(subject(), {})).resources.memory is None
    with pytest.raises(StudyError, match="memory: expected a size such as 4GB"):
        next(probe(subject(), {"memory": "much"}))
