"""What the tests of bundled tasks share: a few steps of training, without the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from tunebook.core.space import Config
from tunebook.training.data import Batch
from tunebook.training.task import Task

STEPS, EXAMPLES = 10, 64


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def few_steps() -> Callable[[Task, Config], list[float]]:
    """The losses of some steps of Adam, all on the first examples."""

    def losses(task: Task, params: Config) -> list[float]:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = task.build(params)
            batch = Batch(
                *task.data(params).train.take(torch.arange(EXAMPLES)), torch.ones(EXAMPLES)
            )
            optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
            found = []
            for _ in range(STEPS):
                loss = task.losses(model(batch.inputs), batch, params).mean()
                loss.backward()
                optimiser.step()
                optimiser.zero_grad()
                found.append(loss.item())
        return found

    return losses
