"""Batch norm over batches of its own size, apart from the batch of the gradient."""

from __future__ import annotations

import torch
from torch import Tensor, nn

GHOST_BATCH = 64


class GhostBatchNorm(nn.Module):
    """Batch norm whose statistics come from ghost batches of about `ghost` examples.

    A batch larger than `ghost` is cut into equal parts (their sizes differ by one at most), so that
    no part is so small that its variance means nothing; a smaller one is a single part. Inputs are
    `(n, features)` or `(n, features, ...)`. The running averages move once a step, by the mean over
    the parts, and are synchronised across ranks by `sync_running_averages`.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self, features: int, ghost: int = GHOST_BATCH, momentum: float = 0.1, eps: float = 1e-5
    ) -> None:
        super().__init__()
        if ghost < 2:
            raise ValueError(f"a ghost batch needs at least 2 examples, got {ghost}")
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
        parts = x.tensor_split(max(-(-len(x) // self.ghost), 1))
        normalised, means, variances = zip(*(self._normalise(part) for part in parts), strict=True)
        with torch.no_grad():
            self.running_mean.lerp_(torch.stack(means).mean(0), self.momentum)
            self.running_var.lerp_(torch.stack(variances).mean(0), self.momentum)
        return torch.cat(normalised)

    def _normalise(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        dims = [0, *range(2, x.dim())]
        count = x.numel() // x.shape[1]
        if count < 2:
            raise ValueError(f"batch norm needs more than one value a feature, got {count}")
        variance, mean = torch.var_mean(x.detach().float(), dims, correction=0)
        y = nn.functional.batch_norm(
            x, None, None, self.weight, self.bias, training=True, eps=self.eps
        )
        return y, mean, variance * (count / (count - 1))


@torch.no_grad()
def sync_running_averages(model: nn.Module) -> None:
    """Give every rank the mean of all ranks' running averages.

    To be called before an evaluation and before a checkpoint: until then, ranks have seen different
    data and hold different averages.
    """
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return
    for name, buffer in model.named_buffers():
        if name.rpartition(".")[2] in ("running_mean", "running_var"):
            torch.distributed.all_reduce(buffer)
            buffer.div_(torch.distributed.get_world_size())
