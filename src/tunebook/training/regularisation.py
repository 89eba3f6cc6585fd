"""Dropout that draws from the run's own stream, so that nothing else can shift its masks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor, nn

from tunebook.core.errors import StudyError


class Dropout(nn.Module):
    """Dropout whose masks come from a stream of its own, given to it by `give_stream`.

    Without one, they come from torch's global generator. A compiled model draws the same masks, and
    its graph does not break for them. Within `torch.utils.checkpoint` it needs `same_masks`: torch
    puts back its own generators only, and a recomputation would go on to the next masks.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise StudyError(
                f"a dropout rate must be a number from 0 up to 1, without 1, got {rate}"
            )
        self.rate = rate
        self.stream: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return x
        if self.stream is None:
            kept = torch.rand(x.shape, device=x.device) >= self.rate
        else:
            # Torch compiles no generator; an operator of ours is one node of the graph.
            draw = _mask_operator if torch.compiler.is_compiling() else mask
            kept = draw(x, self.stream, self.rate)
        return x * kept / (1 - self.rate)

    def extra_repr(self) -> str:
        return f"rate={self.rate}"


def new_stream() -> Tensor:
    """A stream of masks: a seed, and how many masks have been drawn since. It stays on the CPU."""
    return torch.zeros(2, dtype=torch.int64)


def begin(stream: Tensor, seed: int) -> None:
    """Begin a stream anew."""
    stream.copy_(torch.tensor([seed, 0]))


def give_stream(model: nn.Module, stream: Tensor) -> bool:
    """Let every `Dropout` of a model draw from this stream; says whether there is any."""
    drops = [module for module in model.modules() if isinstance(module, Dropout)]
    for module in drops:
        module.stream = stream
    return any(module.rate > 0 for module in drops)


def same_masks(
    block: nn.Module,
) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Let a recomputation draw the masks of the first pass again, as `context_fn` of a checkpoint.

    `checkpoint(block, x, use_reentrant=False, context_fn=partial(same_masks, block))`
    """
    streams = (module.stream for module in block.modules() if isinstance(module, Dropout))
    stream = next((found for found in streams if found is not None), None)
    return nullcontext(), nullcontext() if stream is None else _rewound(stream, stream.clone())


@contextmanager
def _rewound(stream: Tensor, place: Tensor) -> Iterator[None]:
    latest = stream.clone()
    stream.copy_(place)
    try:
        yield
    finally:
        stream.copy_(latest)


def mask(like: Tensor, stream: Tensor, rate: float) -> Tensor:
    """The next mask of a stream: true where a value is kept."""
    seed, drawn = stream.tolist()
    stream[1] += 1
    generator = torch.Generator(like.device).manual_seed(seed + drawn)
    return torch.rand(like.shape, device=like.device, generator=generator) >= rate


# That it changes the stream keeps the compiler from drawing one mask for two layers.
_mask_operator = torch.library.custom_op("tunebook::mask", mask, mutates_args=("stream",))


@_mask_operator.register_fake
def _(like: Tensor, stream: Tensor, rate: float) -> Tensor:
    return torch.empty_like(like, dtype=torch.bool)
