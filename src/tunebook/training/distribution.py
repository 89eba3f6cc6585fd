"""Several processes training one model: ranks, what they share, how the model is spread.

One rank leads: it alone logs and saves. Started by `torchrun`, a process finds its rank in the
environment.
"""

from __future__ import annotations

import inspect
import itertools
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from tunebook.core.errors import StudyError, TunebookError

T = TypeVar("T")
Spread: TypeAlias = Literal["ddp", "fsdp"]
# The name that torch 2.13 gave to `broadcast_buffers`, where torch knows it.
_SYNC_BUFFERS = (
    "forward_sync_buffers"
    if "forward_sync_buffers" in inspect.signature(DistributedDataParallel).parameters
    else "broadcast_buffers"
)

CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True)
class World:
    """This process among all that train the model."""

    rank: int = 0
    size: int = 1
    device: torch.device = CPU

    @property
    def leads(self) -> bool:
        """Whether this rank logs and saves."""
        return self.rank == 0

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all ranks."""
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def mean(self, values: Tensor) -> Tensor:
        return self.sum(values) / self.size

    def agree(self, wish: bool) -> bool:
        """What the leading rank wishes, on every rank."""
        if self.size == 1:
            return wish
        told = torch.tensor([float(wish)], device=self.device)
        dist.broadcast(told, src=0)
        return bool(told.item())

    def told(self, value: T) -> T:
        """What the leading rank says, on every rank."""
        said = [value]
        if self.size > 1:
            dist.broadcast_object_list(said, src=0)
        return said[0]

    def gathered(self, value: T) -> list[T]:
        """What each rank says, on every rank."""
        said = [value] * self.size
        if self.size > 1:
            dist.all_gather_object(said, value)
        return said

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is done inside succeeds on every rank, or raises on every rank.

        So none waits for one that has left. Inside, ranks must not speak to one another.
        """
        failure: BaseException | None = None
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # Not every error is an `Exception`: what ends a trial is none.
            failure = error
        told = self.gathered(repr(failure) if failure is not None else None)
        if failure is not None:
            raise failure
        for rank, error_text in enumerate(told):
            if error_text is not None:
                raise TunebookError(f"rank {rank} has failed, and this one with it: {error_text}")


ALONE = World()


@contextmanager
def joined() -> Iterator[World]:
    """The world that `torchrun` describes; without it, this process alone on the best device."""
    if "WORLD_SIZE" not in os.environ:
        yield World(device=best_device())
        return
    local = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World(dist.get_rank(), dist.get_world_size(), device)
        # None leaves while another may still be speaking to it.
        dist.barrier()
    finally:
        dist.destroy_process_group()


def best_device() -> torch.device:
    return torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


def spread(model: nn.Module, world: World, how: Spread) -> nn.Module:
    """A model whose gradients are averaged over all ranks: replicated (ddp) or sharded (fsdp)."""
    if world.size == 1:
        return model
    if how == "ddp":
        # Buffers are not broadcast: running averages are averaged over ranks by our own rule.
        devices = [world.device.index] if world.device.type == "cuda" else None
        options: dict[str, Any] = {_SYNC_BUFFERS: False}
        return DistributedDataParallel(model, device_ids=devices, **options)
    if how == "fsdp":
        return _shard(model, world)
    raise StudyError(f"a model is spread by ddp or fsdp, got {how!r}")


def bare(model: nn.Module) -> nn.Module:
    """The model itself, without what spreading or compiling has put around it."""
    inner = getattr(model, "_orig_mod", model)
    return inner.module if isinstance(inner, DistributedDataParallel) else inner


def sharded_alone(model: nn.Module) -> list[nn.Module]:
    """The blocks of a model that can be gathered by themselves; the rest is left to its root.

    Blocks are its children, and in place of a container its members. Those that share a parameter
    with another are left out, since one of them would give it back while another needs it.
    """
    blocks = list(_blocks(model))
    sets = [set(block.parameters()) for block in blocks]
    holders = Counter(itertools.chain(model.parameters(recurse=False), *sets))
    return [
        block
        for block, parameters in zip(blocks, sets, strict=True)
        if any(parameter.requires_grad for parameter in parameters)
        and all(holders[parameter] == 1 for parameter in parameters)
    ]


def _blocks(model: nn.Module) -> Iterator[nn.Module]:
    for child in model.children():
        # A list or a dictionary of modules is never called itself, so nothing would gather it.
        if type(child).forward in (nn.Module.forward, nn.Sequential.forward):
            yield from _blocks(child)
        else:
            yield child


def _shard(model: nn.Module, world: World) -> nn.Module:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    scalars = [name for name, parameter in model.named_parameters() if parameter.dim() == 0]
    if scalars:
        raise StudyError(
            f"fsdp cannot shard parameters without a dimension, which {', '.join(scalars)} are; "
            "make them of shape (1,), or set spread to ddp",
            "spread",
        )
    mesh = init_device_mesh(world.device.type, (world.size,))
    # Each block is gathered by itself, so that the whole model is never in one place.
    for block in sharded_alone(model):
        fully_shard(block, mesh=mesh)
    # The root, too, gives back what it gathered: else its shards and its whole could differ when
    # the weights are changed between two passes, as by an average.
    fully_shard(model, mesh=mesh, reshard_after_forward=True)
    return model
