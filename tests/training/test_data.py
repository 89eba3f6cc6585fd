"""Batches: an order from seed and step, padding that weighs nothing, threads that end."""

from __future__ import annotations

import itertools
import threading

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.errors import StudyError
from tunebook.training.data import (
    Batch,
    TensorExamples,
    augmented,
    evaluation_batches,
    on_device,
    prefetched,
    training_batches,
)
from tunebook.training.randomness import Streams


def numbered(count: int) -> TensorExamples:
    return TensorExamples(torch.arange(count), torch.arange(count))


def seen(batches, count: int) -> list[int]:
    return [i for batch in itertools.islice(batches, count) for i in batch.inputs.tolist()]


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 20))
def test_a_resumed_order_is_the_order(count: int, batch: int, start: int) -> None:
    streams = Streams(3)
    whole = list(itertools.islice(training_batches(numbered(count), batch, streams), start + 4))
    resumed = itertools.islice(training_batches(numbered(count), batch, streams, start=start), 4)
    for before, after in zip(whole[start:], resumed, strict=True):
        assert torch.equal(before.inputs, after.inputs)


@given(st.integers(1, 30), st.integers(1, 12))
def test_every_example_is_seen_once_in_each_pass(count: int, batch: int) -> None:
    order = seen(training_batches(numbered(count), batch, Streams(0)), 3 * count)
    for epoch in range(batch):
        assert sorted(order[epoch * count : (epoch + 1) * count]) == list(range(count))


def test_passes_differ_and_so_do_seeds() -> None:
    order = seen(training_batches(numbered(50), 10, Streams(0)), 10)
    assert order[:50] != order[50:]
    assert order != seen(training_batches(numbered(50), 10, Streams(1)), 10)


def test_ranks_share_a_global_batch() -> None:
    together = seen(training_batches(numbered(20), 6, Streams(0)), 5)
    parts = [
        list(itertools.islice(training_batches(numbered(20), 6, Streams(0, r), rank=r, ranks=3), 5))
        for r in range(3)
    ]
    joined = [
        i for step in range(5) for rank in range(3) for i in parts[rank][step].inputs.tolist()
    ]
    assert joined == together


def test_a_batch_that_ranks_cannot_share_is_refused() -> None:
    with pytest.raises(StudyError, match="a batch of 7 cannot be divided among 2 ranks"):
        next(training_batches(numbered(10), 7, Streams(0), ranks=2))


def test_no_examples_are_refused() -> None:
    with pytest.raises(StudyError, match="no training examples"):
        next(training_batches(numbered(0), 4, Streams(0)))
    with pytest.raises(StudyError, match="3 inputs but 2 targets"):
        TensorExamples(torch.zeros(3), torch.zeros(2))


@given(st.integers(1, 40), st.integers(1, 13), st.integers(1, 3))
def test_evaluation_sees_each_example_once_with_weight_one(
    count: int, batch: int, ranks: int
) -> None:
    found: list[int] = []
    lengths = set()
    for rank in range(ranks):
        batches = list(evaluation_batches(numbered(count), batch, rank=rank, ranks=ranks))
        lengths.add(len(batches))
        for part in batches:
            assert len(part.inputs) == batch
            found += part.inputs[part.weights == 1].tolist()
            assert set(part.weights.tolist()) <= {0.0, 1.0}
    assert sorted(found) == list(range(count))
    assert len(lengths) == 1


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_prefetching_changes_nothing(depth: int) -> None:
    assert list(prefetched(iter(range(20)), depth)) == list(range(20))


def test_an_error_in_the_maker_reaches_the_user() -> None:
    def broken():
        yield 1
        raise OSError("the disk is gone")

    items = prefetched(broken(), 2)
    assert next(items) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)


def test_leaving_early_ends_the_thread() -> None:
    before = threading.active_count()
    items = prefetched(itertools.count(), 2)
    assert next(items) == 0
    items.close()
    assert threading.active_count() == before


def test_augmentation_changes_inputs_only() -> None:
    batch = Batch(torch.ones(2), torch.zeros(2), torch.ones(2))
    (changed,) = augmented(iter([batch]), lambda x, _: x * 3, Streams(0))
    assert changed.inputs.tolist() == [3, 3]
    assert changed.targets.tolist() == [0, 0]


def test_augmentation_is_a_function_of_the_step() -> None:
    def noise(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        return torch.rand(x.shape, generator=generator)

    def drawn(start: int, count: int, rank: int = 0) -> list[list[float]]:
        batches = (Batch(torch.ones(2), torch.zeros(2), torch.ones(2)) for _ in range(count))
        made = augmented(batches, noise, Streams(0, rank), start=start)
        return [batch.inputs.tolist() for batch in made]

    assert drawn(0, 5)[3:] == drawn(3, 2)
    assert drawn(0, 1) != drawn(1, 1)
    assert drawn(0, 1) != drawn(0, 1, rank=1)


class FakeBatch:
    """Stands for a batch whose copy to an accelerator can be watched."""

    def __init__(self, number: int, log: list[str]) -> None:
        self.number, self.log = number, log

    def to(self, device: torch.device) -> FakeBatch:
        self.log.append(f"copy {self.number}")
        return self


def test_the_next_batch_is_on_its_way_before_this_one_is_used() -> None:
    log: list[str] = []
    batches = on_device((FakeBatch(i, log) for i in range(3)), torch.device("cuda"))  # type: ignore[arg-type]
    for batch in batches:
        log.append(f"use {batch.number}")  # type: ignore[attr-defined]
    assert log == ["copy 0", "copy 1", "use 0", "copy 2", "use 1", "use 2"]


def test_copies_are_pinned_and_do_not_block(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, object]] = []

    class Part:
        def pin_memory(self):
            calls.append(("pin", None))
            return self

        def to(self, device, non_blocking):
            calls.append(("to", (device.type, non_blocking)))
            return self

    Batch(Part(), Part(), Part()).to(torch.device("cuda"))  # type: ignore[arg-type]
    assert calls == [("pin", None), ("to", ("cuda", True))] * 3
