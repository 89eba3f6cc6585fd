"""Evaluation: exact means over every example, whatever the batch size and the number of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from tunebook.core.errors import TunebookError
from tunebook.core.space import Config
from tunebook.files import atomic
from tunebook.training import checkpoints
from tunebook.training.data import Examples, evaluation_batches, on_device
from tunebook.training.distribution import ALONE, World, best_device
from tunebook.training.randomness import Streams
from tunebook.training.recipe import ReadParams, seed_of_split
from tunebook.training.task import Pair, Task

_TEST_BATCH = 256


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Metrics, and the weight each of them rests on: mostly a number of examples."""

    values: Mapping[str, float]
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Some of the examples of a data set, by index."""

    examples: Examples
    indices: Tensor

    def __len__(self) -> int:
        return len(self.indices)

    def take(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        return self.examples.take(self.indices[indices])


@torch.no_grad()
def evaluate(
    model: nn.Module, task: Task, examples: Examples, batch_size: int, world: World = ALONE
) -> Evaluation:
    """The metrics of a model over all examples; the device is waited for once, at the end."""
    totals: dict[str, Pair] = {}
    batches = evaluation_batches(examples, batch_size, rank=world.rank, ranks=world.size)
    training = model.training
    model.eval()
    try:
        for batch in on_device(batches, world.device):
            for name, (value, weight) in task.measures(model(batch.inputs), batch).items():
                before = totals.get(name)
                pair = (value.double(), weight.double())
                totals[name] = (before[0] + pair[0], before[1] + pair[1]) if before else pair
    finally:
        model.train(training)
    return _means(totals, world)


def evaluate_on_test(task: Task, params: Config, kept: Path) -> Evaluation:
    """The metrics of kept weights, such as a folder `best-400`, on the task's test examples.

    For once, at the end: nothing in a study looks at these examples. `params` are those of the
    trial, since a task may divide its data by them.
    """
    read = ReadParams(params)
    with Streams(seed=0, split=seed_of_split(read)).seeded("split"):
        examples = task.data(read).test
    if examples is None:
        raise TunebookError("the task has no test examples; it can give them as Data(test=...)")
    device = best_device()
    model = task.build(read).to(device)
    checkpoints.load_model(kept, model)
    return evaluate(model, task, examples, _TEST_BATCH, World(device=device))


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """A model's outputs on chosen examples, their targets, and which examples they are."""

    indices: Tensor
    targets: Tensor
    outputs: Tensor


@torch.no_grad()
def predict(model: nn.Module, chosen: Subset, batch_size: int, device: torch.device) -> Predictions:
    """The outputs of a model on chosen examples, on the CPU."""
    outputs, targets = [], []
    training = model.training
    model.eval()
    try:
        for batch in on_device(evaluation_batches(chosen, batch_size), device):
            outputs.append(model(batch.inputs).float().cpu())
            targets.append(batch.targets.cpu())
    finally:
        model.train(training)
    count = len(chosen)
    return Predictions(chosen.indices, torch.cat(targets)[:count], torch.cat(outputs)[:count])


def save_predictions(folder: Path, step: int, found: Predictions) -> None:
    """Keep predictions of a step, to be looked at again without the model."""
    parts = {"indices": found.indices, "targets": found.targets, "outputs": found.outputs}
    with atomic.new_folder(folder / f"predictions-{step}") as target:
        tensors = {name: part.contiguous() for name, part in parts.items()}
        save_file(tensors, target / "predictions.safetensors", {"step": str(step)})


def sample(examples: Examples, size: int, seed: int) -> Subset:
    """A fixed random sample of a data set, for evaluations between those of the whole."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(len(examples), generator=generator)[:size]
    return Subset(examples, chosen.sort().values)


def skew(sampled: Mapping[str, float], whole: Mapping[str, float]) -> dict[str, float]:
    """How far each metric on a sample lies from that on the whole set."""
    return {name: value - whole[name] for name, value in sampled.items() if name in whole}


def _means(totals: dict[str, Pair], world: World) -> Evaluation:
    if not totals:
        return Evaluation({}, {})
    table = torch.stack([torch.stack(pair) for pair in totals.values()])
    sums, weights = world.sum(table).cpu().unbind(1)
    found = zip(totals, sums.tolist(), weights.tolist(), strict=True)
    present = [(name, total, weight) for name, total, weight in found if weight > 0]
    return Evaluation(
        {name: total / weight for name, total, weight in present},
        {name: weight for name, _, weight in present},
    )
