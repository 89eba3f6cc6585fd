"""Gradients: their norm, clipping, and those that cannot be used."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tunebook.core.errors import StudyError
from tunebook.training.gradients import check_gradients, clip


def test_the_norm_is_that_of_all_gradients_and_clipping_bounds_it() -> None:
    parameters = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))]
    unused = nn.Parameter(torch.zeros(1))
    for limit, expected in ((None, [3.0, 0.0, 4.0]), (10.0, [3.0, 0.0, 4.0]), (1.0, [0.6, 0, 0.8])):
        parameters[0].grad, parameters[1].grad = torch.tensor([3.0, 0.0]), torch.tensor([4.0])
        assert clip([*parameters, unused], limit).item() == 5.0
        found = torch.cat([p.grad for p in parameters if p.grad is not None]).tolist()
        assert found == pytest.approx(expected, abs=1e-5)


class Wasteful(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)
        self.frozen = nn.Linear(2, 2).requires_grad_(False)


def test_replicas_refuse_parameters_without_a_gradient() -> None:
    model = Wasteful()
    model.used(torch.ones(1, 2)).sum().backward()
    check_gradients(model, replicated=False)
    text = r"the loss does not depend on unused\.weight, unused\.bias, and .* set spread to fsdp"
    with pytest.raises(StudyError, match=text):
        check_gradients(model, replicated=True)


@pytest.mark.parametrize("replicated", [False, True])
def test_sparse_gradients_are_refused(replicated: bool) -> None:
    model = nn.Sequential(nn.Embedding(3, 2, sparse=True), nn.Linear(2, 2))
    model(torch.tensor([1])).sum().backward()
    with pytest.raises(StudyError) as caught:
        check_gradients(model, replicated=replicated)
    assert str(caught.value) == (
        "the gradient of 0.weight is sparse, which neither the norm nor the optimisers here can "
        "use; build the embedding without sparse=True"
    )
