"""Gradients between the backward pass and the update: their norm, clipping, and what to refuse."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tunebook.core.errors import StudyError


def check_gradients(model: nn.Module, *, replicated: bool) -> None:
    """Refuse gradients that the loop cannot use: to be called after the first backward pass.

    Replicas wait for the gradient of every parameter, and average none of those beside a missing
    one; a process alone, or one with shards, leaves such a parameter as it is.
    """
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    sparse = [name for name, p in trained.items() if p.grad is not None and p.grad.is_sparse]
    if sparse:
        raise StudyError(
            f"the gradient of {', '.join(sparse)} is sparse, which neither the norm nor the "
            "optimisers here can use; build the embedding without sparse=True"
        )
    missing = [name for name, p in trained.items() if p.grad is None]
    if replicated and missing:
        raise StudyError(
            f"the loss does not depend on {', '.join(missing)}, and replicas cannot train a model "
            "of which parameters get no gradient; leave them out of the model, freeze them by "
            "requires_grad_(False), or set spread to fsdp"
        )


def clip(parameters: list[nn.Parameter], limit: float | None) -> Tensor:
    """Clip the gradient to a global norm; returns the norm before, without leaving the device."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = global_norm(gradients)
    if limit is not None:
        torch.nn.utils.clip_grads_with_norm_(parameters, limit, norm, foreach=True)
    return norm


def global_norm(gradients: list[Tensor]) -> Tensor:
    """The norm of all gradients together; that of sharded ones needs every rank."""
    if hasattr(gradients[0], "full_tensor"):
        sharded: Any = torch.nn.utils.get_total_norm(gradients)
        whole: Tensor = sharded.full_tensor()
        return whole
    # The same, without sorting the gradients by device: a model is on one.
    norm: Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    return norm
