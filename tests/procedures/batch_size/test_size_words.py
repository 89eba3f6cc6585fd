"""What sizes fit and how fast they are, in words."""

from __future__ import annotations

from simulated_batches import Machine, subject
from simulated_probes import answered, results_of
from simulated_remedies import BROKEN
from tunebook.core.findings import Question, Verdict
from tunebook.procedures.batch_size.probe import QUESTION, probe
from tunebook.procedures.batch_size.size_words import untimed
from tunebook.procedures.batch_size.tried import Fate, Tried, Trying


def sentence(machine: Machine, largest: int = 2048) -> str:
    answer, _ = answered(probe(subject(), {"largest": largest}), machine.train)
    return next(f.sentence for f in answer.findings if f.question == QUESTION)


def test_a_stop_is_told_with_what_the_next_size_brings() -> None:
    said = sentence(Machine(fixed=0.002, per_example=1e-4))
    assert "Throughput stops rising at 128, with 8," in said
    assert ": 256 brings +" in said
    assert "A step takes 2 ms and 100 µs for each example." in said


def test_a_rise_to_the_end_is_told() -> None:
    said = sentence(Machine(fixed=0.1, per_example=1e-6), 64)
    assert said.startswith("Batch sizes from 8 to 64 fit; larger ones were not tried.")
    assert "Throughput rises up to 64, with 64" in said


def test_nothing_that_fits_and_nothing_timed() -> None:
    question, about = Question("probe-batch-size", "?", "batch-size"), subject()
    study = about.stage("sizes-1", {"batch": [1]}, goal="?")
    (record,) = results_of(study, lambda *_: BROKEN)
    trying = Trying((Tried(1, Fate.FAILED, record),), "1 failed (ValueError)")
    found = untimed(question, about, trying)
    assert found.verdict is Verdict.PROBLEM
    assert found.sentence == "No batch size works: 1 failed (ValueError)."
    assert found.advice == f"Look at it, tunebook show {study.name} 1; mend the program."
