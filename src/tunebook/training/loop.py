"""The reference loop, from top to bottom: data, model, optimiser, and then step after step."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Iterator

import torch
from torch import nn

from tunebook.core.protocols import Run, TrainFunction
from tunebook.training.averaging import Average
from tunebook.training.checkpoints import State
from tunebook.training.data import Batch, augmented, on_device, training_batches
from tunebook.training.distribution import World, bare, joined, spread
from tunebook.training.gradients import check_gradients, clip
from tunebook.training.meters import Meters
from tunebook.training.milestones import Job, asked_to_leave, look, precision, resume, save
from tunebook.training.optimisers import torch_optimiser
from tunebook.training.randomness import Streams, seed_everything
from tunebook.training.recipe import ReadParams, Recipe
from tunebook.training.regularisation import begin, give_stream, new_stream
from tunebook.training.schedules import rate
from tunebook.training.task import Task, check_losses


def trainer(task: Task) -> TrainFunction:
    """The training function of a task.

    It is made once, before processes are forked for the trials: what a task can prepare for all of
    them, such as its data, is loaded here.
    """
    prepare = getattr(task, "prepare", None)
    if prepare is not None:
        prepare()
    # The first optimiser imports it, which takes a second or two of every trial otherwise.
    importlib.import_module("torch._dynamo")
    return functools.partial(train, task)


def train(task: Task, run: Run) -> None:
    """Train a task as a trial: what a study calls for each of its configurations."""
    with joined() as world:
        fit(task, run, world)


def fit(task: Task, run: Run, world: World) -> nn.Module:
    """Train a model by the recipe in the run's parameters, and return it."""
    params = ReadParams(run.params)
    recipe = Recipe.of(params, run.budget)
    plan = recipe.plan
    streams = Streams(run.seed, world.rank, recipe.seed_init, recipe.seed_data, recipe.seed_split)
    # A task that splits its data at random does so alike on every rank and, unless `seed_split`
    # is varied, in every trial.
    with streams.seeded("split"):
        data = task.data(params)
    job = Job(task, run, world, recipe, data)

    with streams.seeded("initialisation"):
        model = task.build(params).to(world.device)
    masks = new_stream()
    drops = give_stream(model, masks)
    model = spread(model, world, recipe.spread)
    forward = torch.compile(model) if recipe.compile else model
    parameters = list(model.parameters())
    optimiser = torch_optimiser(
        recipe.optimizer,
        parameters,
        recipe.hyper(params),
        foreach=recipe.foreach,
        fused=recipe.fused,
    )
    average = Average(bare(model), recipe.past_share) if recipe.average != "none" else None
    # Whatever a model or a task draws from the global generators differs between ranks.
    seed_everything(streams.seed_of("elsewhere"))

    state = State(bare(model), optimiser, average)
    resume(job, state)
    batches = _feed(job, streams, state.step)
    meters = Meters(run, world, recipe.batch_size, recipe.clip_norm)

    first = state.step
    for step in range(first, plan.total):
        learning_rate = rate(plan, step)
        for group in optimiser.param_groups:
            group["lr"] = learning_rate

        before = time.perf_counter()
        batch = next(batches)
        waited = time.perf_counter() - before

        if drops:
            # A stream for each step: what was drawn before, and on which rank, does not matter.
            begin(masks, streams.seed_of("dropout", step))
        with precision(recipe, world.device):
            losses = task.losses(forward(batch.inputs), batch, params)
        if step == first:
            check_losses(losses, len(batch.weights))
        loss = losses.mean()
        loss.backward()  # type: ignore[no-untyped-call]
        if step == first:
            check_gradients(state.model, replicated=world.size > 1 and recipe.spread == "ddp")
        norm = clip(parameters, recipe.clip_norm)
        optimiser.step()
        optimiser.zero_grad()
        if average is not None:
            average.update(state.model)

        state.step = step + 1
        last = state.step == plan.total
        meters.add(state.step, learning_rate, loss.detach(), norm, waited)
        if step == 0:
            params.check_all_read()
        if last or state.step % recipe.log_every == 0:
            meters.log()
        if last or state.step % recipe.evaluation_interval == 0:
            # It waits for the device: else steps still under way would end in the pause.
            meters.log()
            with meters.paused():
                look(job, state, last=last)
        leave = asked_to_leave(job, state.step)
        if last or leave or state.step % recipe.checkpoint_interval == 0:
            # What a run that continues from here will not log again must be logged before.
            meters.log()
            with meters.paused():
                save(job, state)
        if leave:
            break
    return model


def _feed(job: Job, streams: Streams, start: int) -> Iterator[Batch]:
    """This rank's training batches on its device, from a step on."""
    recipe, world = job.recipe, job.world
    batches = training_batches(
        job.data.train,
        recipe.batch_size,
        streams,
        start=start,
        rank=world.rank,
        ranks=world.size,
    )
    if job.data.augment is not None:
        batches = augmented(batches, job.data.augment, streams, start=start)
    return on_device(batches, world.device, recipe.prefetch)
