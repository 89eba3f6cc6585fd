"""Batches: an order from seed and step, padding that weighs nothing, threads that end."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator

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


class FakeCuda:
    """Stands for an accelerator: notes what is asked of its streams, and by which thread."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.threads: dict[str, int] = {}
        self.current = threading.local()
        monkeypatch.setattr(torch.cuda, "Stream", lambda device: FakeStream(self, "copying"))
        monkeypatch.setattr(torch.cuda, "stream", self.using)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda device: self.stream)

    @property
    def stream(self) -> FakeStream:
        return getattr(self.current, "stream", FakeStream(self, "computing"))

    @contextlib.contextmanager
    def using(self, stream: FakeStream) -> Iterator[None]:
        self.current.stream = stream
        yield
        del self.current.stream

    def note(self, what: str) -> None:
        self.log.append(what)
        self.threads[what] = threading.get_ident()


class FakeStream:
    def __init__(self, cuda: FakeCuda, name: str) -> None:
        self.cuda, self.name = cuda, name
        self.recorded = 0

    def record_event(self) -> str:
        event = f"arrival {self.recorded}"
        self.recorded += 1
        self.cuda.note(f"{self.name} records {event}")
        return event

    def wait_event(self, event: str) -> None:
        self.cuda.note(f"{self.name} waits for {event}")


class FakePart:
    """A tensor that notes how it is copied and by which stream it is used."""

    def __init__(self, number: int, cuda: FakeCuda, where: str = "cpu") -> None:
        self.number, self.cuda, self.device = number, cuda, torch.device(where)

    def pin_memory(self) -> FakePart:
        self.cuda.note(f"pin {self.number}")
        return FakePart(self.number, self.cuda)

    def to(self, device: torch.device, non_blocking: bool) -> FakePart:
        assert non_blocking
        self.cuda.note(f"{self.cuda.stream.name} copies {self.number}")
        return FakePart(self.number, self.cuda, device.type)

    def record_stream(self, stream: FakeStream) -> None:
        self.cuda.note(f"{stream.name} uses {self.number}")


def batches_of(cuda: FakeCuda, count: int, where: str = "cpu") -> Iterator[Batch]:
    parts = (FakePart(number, cuda, where) for number in range(count))
    return (Batch(part, part, part) for part in parts)  # type: ignore[arg-type]


CUDA = torch.device("cuda")


@pytest.mark.parametrize("ahead", [0, 2])
def test_batches_are_copied_beside_the_computation(
    ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = FakeCuda(monkeypatch)
    for number, batch in enumerate(on_device(batches_of(cuda, 3), CUDA, ahead)):
        assert batch.inputs.device == CUDA
        cuda.note(f"step {number}")
    once = list(dict.fromkeys(cuda.log))
    for number in range(3):
        own = [entry for entry in once if entry.endswith(f" {number}")]
        assert own == [
            f"pin {number}",
            f"copying copies {number}",
            f"copying records arrival {number}",
            f"computing waits for arrival {number}",
            f"computing uses {number}",
            f"step {number}",
        ]
        # Every part is copied, and none is forgotten by the allocator while it is used.
        for entry in (own[0], own[1], own[4]):
            assert cuda.log.count(entry) == 3
        made, used = cuda.threads[own[2]], cuda.threads[own[3]]
        assert (made != used) == (ahead > 0)
    assert cuda.log.index("copying copies 1") < cuda.log.index("step 0")
    assert cuda.log.index("copying copies 2") < cuda.log.index("step 1")


def test_data_that_live_on_the_device_stay_there(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = FakeCuda(monkeypatch)
    assert len(list(on_device(batches_of(cuda, 2, "cuda"), CUDA))) == 2
    assert not any("copies" in entry or "pin" in entry for entry in cuda.log)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_batch_is_lost_on_the_way(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = FakeCuda(monkeypatch)
    found = [batch.inputs.number for batch in on_device(batches_of(cuda, count), CUDA)]  # type: ignore[attr-defined]
    assert found == list(range(count))


def test_on_the_cpu_nothing_is_copied() -> None:
    batch = Batch(torch.ones(2), torch.zeros(2), torch.ones(2))
    for ahead in (0, 1):
        (same,) = on_device(iter([batch]), torch.device("cpu"), ahead)
        assert same is batch
