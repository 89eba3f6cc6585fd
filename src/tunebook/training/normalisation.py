"""Batch norm over batches of its own size, apart from the batch of the gradient."""

from __future__ import annotations

import math

import torch
import torch.distributed as dist
from torch import Tensor, nn

from tunebook.core.errors import StudyError

GHOST_BATCH = 64


class GhostBatchNorm(nn.Module):
    """Batch norm whose statistics come from ghost batches of about `ghost` examples.

    A batch is cut into equal parts (their sizes differ by one at most) whose size is as near to
    `ghost` as it can be, so that no part is so small that its variance means nothing. A small batch
    is a single part. Inputs are `(n, features)` or `(n, features, ...)`. The running averages move
    once a step, by the mean over the parts; `sync_running_averages` makes ranks agree on them.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self, features: int, ghost: int = GHOST_BATCH, momentum: float = 0.1, eps: float = 1e-5
    ) -> None:
        super().__init__()
        if ghost < 2:
            raise StudyError(f"a ghost batch needs at least 2 examples, got {ghost}")
        self.ghost = ghost
        self.momentum = momentum
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return nn.functional.batch_norm(
                x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        if x.numel() < 2 * x.shape[1]:
            raise StudyError(
                "batch norm needs more than one value of each feature, got an input of shape "
                f"{tuple(x.shape)}; use a larger batch, or layer norm"
            )
        parts = x.tensor_split(number_of_parts(len(x), self.ghost))
        means, variances = self.running_mean.new_zeros(2, len(parts), x.shape[1])
        # With a momentum of 1, "running" averages are those of the part alone, in full precision.
        normalised = [
            nn.functional.batch_norm(
                *(part, means[i], variances[i], self.weight, self.bias),
                training=True,
                momentum=1.0,
                eps=self.eps,
            )
            for i, part in enumerate(parts)
        ]
        with torch.no_grad():
            self.running_mean.lerp_(means.mean(0), self.momentum)
            self.running_var.lerp_(variances.mean(0), self.momentum)
        return torch.cat(normalised) if len(normalised) > 1 else normalised[0]

    def extra_repr(self) -> str:
        return f"{len(self.weight)}, ghost={self.ghost}, momentum={self.momentum}, eps={self.eps}"


def number_of_parts(examples: int, ghost: int) -> int:
    """Into how many ghost batches a batch is cut; none of several has fewer than two examples.

    >>> [number_of_parts(examples, ghost=64) for examples in (1, 64, 96, 97, 128, 1024)]
    [1, 1, 1, 2, 2, 16]
    """
    return max(math.ceil(examples / ghost - 0.5), 1)


def running_averages(model: nn.Module) -> list[Tensor]:
    """The buffers in which layers of batch norm, ours and torch's, average over batches."""
    return [
        buffer
        for name, buffer in model.named_buffers()
        if name.rpartition(".")[2] in ("running_mean", "running_var")
    ]


@torch.no_grad()
def sync_running_averages(averages: list[Tensor]) -> None:
    """Give every rank the mean of all ranks' running averages.

    To be called before an evaluation and before a checkpoint: until then, ranks have seen different
    data and hold different averages. Being means, they come out the same however often it is done.
    """
    if not averages or not dist.is_available() or not dist.is_initialized():
        return
    # One message for all of them: latency counts more than size.
    together = torch.cat([average.flatten() for average in averages])
    dist.all_reduce(together)
    together /= dist.get_world_size()
    means = torch.split(together, [average.numel() for average in averages])
    for average, mean in zip(averages, means, strict=True):
        average.copy_(mean.view_as(average))
