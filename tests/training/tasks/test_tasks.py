"""What every bundled task keeps: facts, defaults, a chance level, and a name to import it by."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from runs import MemoryRun
from tunebook.core.errors import StudyError
from tunebook.training import tasks
from tunebook.training.distribution import ALONE
from tunebook.training.evaluation import evaluate
from tunebook.training.loop import fit
from tunebook.training.recipe import Recipe
from tunebook.training.task import BundledTask
from tunebook.training.tasks import clothes, handwriting, signals, text
from tunebook.training.tasks.clothes import FOLDER, PACKAGE

STEPS = 25
CACHES = {
    "characters": text.encoded,
    "digits": handwriting.examples,
    "fashion_mnist": clothes.examples,
    "mnist1d": signals.examples,
}


@pytest.fixture(params=tasks.__all__)
def name(request: pytest.FixtureRequest) -> str:
    if request.param == "fashion_mnist" and not FOLDER.is_dir():
        pytest.skip(f"Debian's package {PACKAGE} is not installed")
    return str(request.param)


@pytest.fixture
def task(name: str) -> BundledTask:
    found: BundledTask = getattr(tasks, name)
    return found


def test_names() -> None:
    assert tasks.__all__ == ["characters", "digits", "fashion_mnist", "mnist1d"]
    assert dir(tasks) == tasks.__all__
    with pytest.raises(
        AttributeError, match=r"'tunebook\.training\.tasks' has no attribute 'cifar'"
    ):
        tasks.cifar  # noqa: B018


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, tunebook.training.tasks as tasks\n"
        "heavy = ('torch', 'sklearn', 'mnist1d')\n"
        "print([name for name in heavy if name in sys.modules])\n"
        "tasks.digits, tasks.mnist1d, tasks.characters, tasks.fashion_mnist\n"
        "print([name for name in heavy if name in sys.modules])\n"
        "print(*(type(getattr(tasks, name)).__name__ for name in tasks.__all__))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['torch']", "Characters Digits FashionMnist Mnist1D"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted there")
def test_a_process_that_is_ready_to_train_has_one_thread(name: str) -> None:
    """It can be forked for each trial, which then has nothing slow left to import."""
    code = (
        "import os, sys\n"
        f"from tunebook.training.tasks import {name} as task\n"
        "from tunebook.training.loop import trainer\n"
        "trainer(task)\n"
        "print(len(os.listdir('/proc/self/task')), 'torch._dynamo' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True"]


def test_facts(task: BundledTask) -> None:
    facts = task.facts
    assert facts.metric.is_better(facts.reached, facts.chance)
    assert Recipe.of({**task.defaults, "steps": facts.steps}, None).steps == facts.steps


def test_defaults_cannot_be_changed(task: BundledTask) -> None:
    with pytest.raises(TypeError):
        task.defaults["learning_rate"] = 1.0  # type: ignore[index]


def test_an_untrained_model_is_at_chance(task: BundledTask) -> None:
    torch.manual_seed(0)
    model = task.build({})
    found = evaluate(model, task, task.data({}).valid, 500).values
    symbols = 10 if task.facts.chance == 0.9 else len(text.encoded(None).alphabet)
    assert found["loss"] == pytest.approx(math.log(symbols), rel=0.12)
    assert found["error"] > 0.75
    metric = task.facts.metric.name.removeprefix("valid/")
    assert found[metric] > 0.8 * task.facts.chance


def test_a_learning_rate_is_enough(task: BundledTask, tmp_path: Path) -> None:
    params = {"learning_rate": 0.003, "batch_size": 32, "valid_sample": 100, "keep_best": 0}
    run = MemoryRun(tmp_path, params, STEPS)
    fit(task, run, ALONE)
    losses = run.curve("train/loss").values
    assert np.mean(losses[-5:]) < 0.95 * np.mean(losses[:5])
    assert task.facts.metric.name in run.rows[-1][1]


def test_every_default_is_read(task: BundledTask, tmp_path: Path) -> None:
    """After the first step, the loop names the parameters that neither it nor the task has read."""
    run = MemoryRun(tmp_path, {**task.defaults, "no_parameter": 1}, steps=2)
    with pytest.raises(StudyError, match="reads no_parameter;"):
        fit(task, run, ALONE)


def test_data_that_were_prepared_are_not_made_again(name: str, task: BundledTask) -> None:
    cache = CACHES[name]
    cache.cache_clear()
    task.prepare()
    made = cache.cache_info().misses
    assert made > 0
    task.data({})
    assert cache.cache_info().misses == made
