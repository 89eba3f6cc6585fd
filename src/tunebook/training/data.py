"""Examples, and batches of them in an order that depends on the seed and the step alone.

So a run can be resumed at any step without remembering where it was in its data.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeVar

import torch
from torch import Tensor

from tunebook.core.errors import StudyError
from tunebook.training.randomness import Streams

T = TypeVar("T")
Augment: TypeAlias = Callable[[Tensor, torch.Generator], Tensor]


class Examples(Protocol):
    """A data set with random access."""

    def __len__(self) -> int: ...

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and targets of these examples."""


@dataclass(frozen=True, slots=True, eq=False)
class TensorExamples:
    """Examples that fit into memory: `inputs` and `targets` with the example as first dimension."""

    inputs: Tensor
    targets: Tensor

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.targets):
            raise StudyError(f"there are {len(self.inputs)} inputs but {len(self.targets)} targets")

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        return self.inputs[indices], self.targets[indices]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Examples to be seen together; those of weight zero are padding. `weights` is `(n,)`."""

    inputs: Tensor
    targets: Tensor
    weights: Tensor

    def to(self, device: torch.device) -> Batch:
        """The batch on a device, copied from pinned memory; the host does not wait for it."""
        return Batch(*(_moved(part, device) for part in self.parts))

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.inputs, self.targets, self.weights


def training_batches(
    examples: Examples,
    batch_size: int,
    streams: Streams,
    *,
    start: int = 0,
    rank: int = 0,
    ranks: int = 1,
) -> Iterator[Batch]:
    """This rank's part of each global batch, from a step on, for ever.

    The data are passed over in a new order each time; a batch may span the end of one pass and the
    beginning of the next, so that every example is seen equally often.
    """
    if batch_size % ranks:
        raise StudyError(f"a batch of {batch_size} cannot be divided among {ranks} ranks")
    own = batch_size // ranks
    orders = _Orders(len(examples), streams)
    weights = torch.ones(own)
    position = start * batch_size + rank * own
    while True:
        inputs, targets = examples.take(orders.positions(position, own))
        yield Batch(inputs, targets, weights)
        position += batch_size


def evaluation_batches(
    examples: Examples, batch_size: int, *, rank: int = 0, ranks: int = 1
) -> Iterator[Batch]:
    """Every example once, all batches of one size: the last is padded with examples of weight zero.

    Each rank takes its own part; all ranks make equally many batches.
    """
    count = len(examples)
    for begin in range(0, count, batch_size * ranks):
        places = torch.arange(begin + rank * batch_size, begin + (rank + 1) * batch_size)
        real = places < count
        inputs, targets = examples.take(torch.where(real, places, 0))
        yield Batch(inputs, targets, real.to(torch.float32))


def on_device(batches: Iterator[Batch], device: torch.device, ahead: int = 0) -> Iterator[Batch]:
    """Batches on a device, `ahead` of them made by a thread before they are asked for.

    On an accelerator they are copied beside the computation, each at least while the one before it
    is used.
    """
    if device.type == "cpu":
        return prefetched(batches, ahead)
    copies = _copied(batches, device)
    return _arrived(prefetched(copies, ahead) if ahead else _one_ahead(copies), device)


def _copied(
    batches: Iterator[Batch], device: torch.device
) -> Iterator[tuple[Batch, torch.cuda.Event]]:
    """Batches on their way to a device on a stream of their own, each with its arrival."""
    stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    for batch in batches:
        # Which stream is current is a matter of the thread: the user of the batches has another.
        with torch.cuda.stream(stream):
            copy = batch.to(device)
            arrival = stream.record_event()
        yield copy, arrival


def _arrived(
    copies: Iterator[tuple[Batch, torch.cuda.Event]], device: torch.device
) -> Iterator[Batch]:
    """Batches for the stream that computes: it waits for them, and the host does not."""
    for batch, arrival in copies:
        stream = torch.cuda.current_stream(device)
        stream.wait_event(arrival)
        for part in batch.parts:
            # Else the allocator would think the memory free when the copying stream is done.
            part.record_stream(stream)
        yield batch


def _one_ahead(items: Iterator[T]) -> Iterator[T]:
    """Each item is made before the one before it is used."""
    ready = list(itertools.islice(items, 1))
    for following in items:
        yield ready.pop()
        ready.append(following)
    yield from ready


def prefetched(items: Iterator[T], depth: int) -> Iterator[T]:
    """Items made ahead of time by a thread, at most `depth` of them; 0 makes them when asked."""
    if depth == 0:
        yield from items
        return
    ready: queue.Queue[T | BaseException | None] = queue.Queue(maxsize=depth)
    leaving = threading.Event()

    def put(item: T | BaseException | None) -> None:
        while not leaving.is_set():
            try:
                ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return

    def make() -> None:
        try:
            for item in items:
                put(item)
                if leaving.is_set():
                    return
        except BaseException as error:
            put(error)
        else:
            put(None)

    maker = threading.Thread(target=make, daemon=True)
    maker.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        leaving.set()
        maker.join()


def _moved(part: Tensor, device: torch.device) -> Tensor:
    """A tensor on a device; data that live there already stay."""
    if part.device.type == device.type:
        return part
    return part.pin_memory().to(device, non_blocking=True)


def augmented(
    batches: Iterator[Batch], augment: Augment, streams: Streams, *, start: int = 0
) -> Iterator[Batch]:
    """Batches whose inputs have been through an augmentation.

    Each step draws from a generator of its own: a batch made ahead of time is the same as one made
    when it is needed, and so is one made after resuming.
    """
    generator = torch.Generator()
    for step, batch in enumerate(batches, start):
        generator.manual_seed(streams.seed_of("augmentation", step))
        yield replace(batch, inputs=augment(batch.inputs, generator))


class _Orders:
    """The orders of successive passes over the data; the latest two are kept."""

    def __init__(self, count: int, streams: Streams) -> None:
        if count == 0:
            raise StudyError("there are no training examples")
        self._count = count
        self._streams = streams
        self._orders: dict[int, Tensor] = {}

    def positions(self, begin: int, length: int) -> Tensor:
        """Which examples stand at `length` positions of the endless sequence of passes."""
        parts = []
        while length > 0:
            epoch, offset = divmod(begin, self._count)
            part = self._order(epoch)[offset : offset + length]
            parts.append(part)
            begin, length = begin + len(part), length - len(part)
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _order(self, epoch: int) -> Tensor:
        if epoch not in self._orders:
            generator = torch.Generator().manual_seed(self._streams.seed_of("order", epoch))
            self._orders = {k: v for k, v in self._orders.items() if k == epoch - 1}
            self._orders[epoch] = torch.randperm(self._count, generator=generator)
        return self._orders[epoch]
