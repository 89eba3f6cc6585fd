"""What happens now and then during training: evaluations, checkpoints, and leaving when asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch

from tunebook.core.errors import TunebookError
from tunebook.core.protocols import Run
from tunebook.files import atomic
from tunebook.training import checkpoints
from tunebook.training.checkpoints import State
from tunebook.training.data import Examples
from tunebook.training.distribution import World
from tunebook.training.evaluation import (
    Evaluation,
    evaluate,
    predict,
    sample,
    save_predictions,
    skew,
)
from tunebook.training.normalisation import running_averages, sync_running_averages
from tunebook.training.randomness import Streams, seed_everything
from tunebook.training.recipe import Recipe
from tunebook.training.task import Data, Task

# One fixed sample for all evaluations of all trials: they are compared with one another.
_SAMPLE_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What does not change while a model is trained."""

    task: Task
    run: Run
    world: World
    recipe: Recipe
    data: Data


def precision(recipe: Recipe, device: torch.device) -> AbstractContextManager[object]:
    """The number format of the forward pass; weights and gradients stay in float32."""
    if recipe.precision == "float32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def look(job: Job, state: State, *, last: bool) -> None:
    """Evaluate the model (or its average), log the metrics, keep the best: with every rank."""
    _sync(state)
    averaged = state.average.in_place_of(state.model) if state.average else nullcontext()
    with averaged, precision(job.recipe, job.world.device):
        metrics = _metrics(job, state, last)
        best = _is_best(job, metrics)
        weights = checkpoints.model_tensors(state, job.world) if best else {}
        _predictions(job, state)
    with job.world.together():
        if job.world.leads:
            job.run.log(metrics, state.step)
            if best:
                metric = job.task.facts.metric
                kept = state.step, metrics[metric.name], metric, job.recipe.keep_best
                checkpoints.keep_best(job.run.folder, weights, *kept)


def save(job: Job, state: State) -> None:
    """Write the checkpoint from which the run can continue. Every rank takes part, one writes."""
    _sync(state)
    tensors, facts = checkpoints.collect(state, job.world)
    with job.world.together():
        if job.world.leads:
            with job.run.checkpoint(state.step) as folder:
                checkpoints.save(folder, tensors, facts)


def resume(job: Job, state: State) -> None:
    """Continue from the newest whole checkpoint that the leading rank finds, if it finds one.

    The others follow it, so that all are at the same step. Each has its own random states again; a
    rank that the checkpoint does not know draws from a stream of its own for this step.
    """
    world = job.world
    newest = None
    with world.together():
        if world.leads:
            checkpoints.remove_damaged(job.run.folder)
            newest = job.run.resume()
    found = world.told(newest)
    if found is None:
        return
    with world.together():
        _check_readable(found, world)
        known = checkpoints.load(found, state, world.rank)
    if not known:
        seed_everything(Streams(job.run.seed, world.rank).seed_of("elsewhere", state.step))


def asked_to_leave(job: Job, step: int) -> bool:
    """Whether to save and leave. Several ranks agree on it at logging points, since it costs."""
    if job.world.size == 1:
        return job.run.should_stop
    return step % job.recipe.log_every == 0 and job.world.agree(job.run.should_stop)


def _sync(state: State) -> None:
    """Let the ranks agree on running averages: those of the model and those within its average."""
    averaged = state.average.running if state.average is not None else []
    sync_running_averages([*running_averages(state.model), *averaged])


def _is_best(job: Job, metrics: Mapping[str, float]) -> bool:
    """Whether an evaluation is to be kept: the leading rank, which has the others, decides."""
    metric, wish = job.task.facts.metric, False
    if job.world.leads and metric.name in metrics:
        value = metrics[metric.name]
        wish = checkpoints.is_among_best(job.run.folder, value, metric, job.recipe.keep_best)
    return job.world.agree(wish)


def _check_readable(folder: Path, world: World) -> None:
    """The leading rank has found a checkpoint whole; the others may be on other machines."""
    flaw = None if world.leads else atomic.flaw(folder)
    if flaw is not None:
        raise TunebookError(
            f"rank {world.rank} cannot continue from the checkpoint {folder}, as the leading rank "
            f"does: {flaw}; checkpoints must be in a folder that every rank can reach"
        )


def _metrics(job: Job, state: State, last: bool) -> dict[str, float]:
    recipe, valid, size = job.recipe, job.data.valid, job.recipe.valid_sample
    batch = max(recipe.evaluation_batch // job.world.size, 1)

    def measured(examples: Examples) -> Evaluation:
        return evaluate(state.model, job.task, examples, batch, job.world)

    sampled = measured(valid if size is None else sample(valid, size, _SAMPLE_SEED))
    metrics = _under("valid", sampled.values)
    if last:
        metrics |= _under("valid/count", sampled.weights)
        metrics["train/examples"] = float(len(job.data.train))
    if last and size is not None:
        whole = measured(valid).values
        metrics |= _under("whole", whole) | _under("skew", skew(sampled.values, whole))
    if recipe.train_sample is not None:
        seen = measured(sample(job.data.train, recipe.train_sample, _SAMPLE_SEED))
        metrics |= _under("train_sample", seen.values)
    return metrics


def _under(prefix: str, values: Mapping[str, float]) -> dict[str, float]:
    return {f"{prefix}/{name}": value for name, value in values.items()}


def _predictions(job: Job, state: State) -> None:
    if job.recipe.saved_predictions:
        chosen = sample(job.data.valid, job.recipe.saved_predictions, _SAMPLE_SEED)
        found = predict(state.model, chosen, job.recipe.evaluation_batch, job.world.device)
        with job.world.together():
            if job.world.leads:
                save_predictions(job.run.folder, state.step, found)
